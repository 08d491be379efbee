import { COUNTING_KINDS, type SourceDefinition } from "./source.ts";

/** How long a topic keeps its records, as far as it says; undefined is without limit. */
export interface RetentionFacts {
  readonly retentionMs: number | undefined;
  readonly retentionBytes: number | undefined;
  readonly compacted: boolean;
}

/** Why a source is not started although its topic can be read. It is asked again: a change of the topic heals it. */
export interface Refusal {
  readonly code: "RETENTION_TOO_SHORT" | "TOPIC_COMPACTED";
  /** What is wrong and what to change. */
  readonly text: string;
}

/** Whether the topic keeps its records long enough for the source (I15). Undefined: it does, as far as it says. */
export function refusalOf(definition: SourceDefinition, retention: RetentionFacts): Refusal | undefined {
  const { topic, kind, worstLagMs, allowShortRetention } = definition;
  if (retention.compacted && COUNTING_KINDS.has(kind)) {
    const text = `topic ${topic} is compacted and loses records that have to be counted: set its cleanup.policy to delete`;
    return { code: "TOPIC_COMPACTED", text };
  }
  const { retentionMs } = retention;
  if (retentionMs === undefined || retentionMs > worstLagMs || allowShortRetention === true) return undefined;
  const text =
    `topic ${topic} keeps records for ${spelled(retentionMs)}, the source's worstLag is ${spelled(worstLagMs)}: raise the ` +
    `topic's retention.ms above ${worstLagMs}, lower worstLag to the longest that the source may ever be behind, or set ` +
    "allowShortRetention to run it although records may be lost";
  return { code: "RETENTION_TOO_SHORT", text };
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** In the largest unit of which it is a whole number. */
function spelled(ms: number): string {
  const [unit, size] = UNITS.find(([, of]) => ms >= of && ms % of === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
