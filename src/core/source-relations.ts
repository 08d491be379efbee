import { settingsFault } from "./counting/settings.ts";
import { COUNTING_KINDS, SEGMENT_MAX_MS, SEGMENT_MIN_MS, type SourceDefinition } from "./source.ts";

/** What relations between sources look at. A seed of the file and a stored definition both have it. */
export interface RelatedSource extends Pick<
  SourceDefinition,
  "name" | "kind" | "topic" | "group" | "namespace" | "format" | "counting" | "deadLetterTopic"
> {
  readonly descriptor?: object;
}

/** A member of a source that does not go together with the rest of it, or with another source. */
export interface SourceFaultText {
  readonly member: "name" | "topic" | "group" | "namespace" | "descriptor" | "counting" | "deadLetterTopic";
  /** What is there, for people. */
  readonly found: string;
  /** What would be right, or why this is not. */
  readonly right: string;
}

/** Longest name of a topic that a broker takes. */
const TOPIC_LENGTH_MAX = 249;

/** What must be unique among sources, and why. */
const UNIQUE = {
  name: "a name belongs to one source",
  group: "two sources in one group take each other's commits",
  namespace: "a namespace has one source",
} as const;

/**
 * What does not go together within one source, and between it and `others`: the ones that are there already, without
 * itself. The one rule for the file (each entry against those before it), for seeding and for a change. Pure.
 */
export function sourceFaults(source: RelatedSource, others: readonly RelatedSource[]): readonly SourceFaultText[] {
  return [
    ...ownFaults(source),
    ...countingFaults(source),
    ...sharedFaults(source, others),
    ...letterFaults(source, others),
  ];
}

function ownFaults({ format, descriptor, topic, deadLetterTopic }: RelatedSource): readonly SourceFaultText[] {
  const faults: SourceFaultText[] = [];
  if (format !== "protobuf" && descriptor !== undefined) {
    const right = "remove it, or use format protobuf";
    faults.push({ member: "descriptor", found: `a descriptor with format ${format}`, right });
  }
  if (format === "protobuf" && descriptor === undefined) {
    faults.push({ member: "descriptor", found: "format protobuf without a descriptor", right: "name one" });
  }
  if (deadLetterTopic === topic) {
    const right = "name another: dead letters would be read again";
    faults.push({ member: "deadLetterTopic", found: "it is the source's own topic", right });
  }
  if (deadLetterTopic.length > TOPIC_LENGTH_MAX) {
    const found = `"${deadLetterTopic.slice(0, 20)}…" has ${deadLetterTopic.length} characters`;
    faults.push({ member: "deadLetterTopic", found, right: `name one of at most ${TOPIC_LENGTH_MAX}` });
  }
  return faults;
}

function countingFaults({ kind, counting }: RelatedSource): readonly SourceFaultText[] {
  if (counting === undefined) return [];
  const member = "counting";
  if (!COUNTING_KINDS.has(kind)) return [{ member, found: `kind ${kind} counts nothing`, right: "remove it" }];
  const { segmentEveryMs } = counting;
  const fault = settingsFault(counting);
  const lasts = segmentEveryMs >= SEGMENT_MIN_MS && segmentEveryMs <= SEGMENT_MAX_MS;
  return [
    ...(fault === undefined
      ? []
      : [{ member, found: fault, right: "see the values in the configuration's reference" } as const]),
    ...(lasts
      ? []
      : [{ member, found: `a row of ${segmentEveryMs} ms`, right: "let it last a minute to 30 days" } as const]),
  ];
}

function sharedFaults(source: RelatedSource, others: readonly RelatedSource[]): readonly SourceFaultText[] {
  return (["name", "group", "namespace"] as const).flatMap((member) => {
    const other = others.find((candidate) => candidate[member] === source[member]);
    if (other === undefined) return [];
    return [{ member, found: `"${source[member]}" is also that of source ${other.name}`, right: UNIQUE[member] }];
  });
}

/**
 * Dead letters in a topic that a source reads are records to that source: poison to it, or documents that nobody meant;
 * and where its own letters lead back, they go round for ever.
 */
function letterFaults(source: RelatedSource, others: readonly RelatedSource[]): readonly SourceFaultText[] {
  const { topic, deadLetterTopic } = source;
  if (deadLetterTopic === topic) return [];
  const faults: SourceFaultText[] = [];
  const reader = others.find((other) => other.topic === deadLetterTopic);
  if (reader !== undefined) {
    const right = comesBack(source, others)
      ? "name another: dead letters would come back to the topic that they were read from"
      : "name another: that source would take dead letters for its own records";
    const found = `"${deadLetterTopic}" is read by source ${reader.name}`;
    faults.push({ member: "deadLetterTopic", found, right });
  }
  const writer = others.find((other) => other.deadLetterTopic === topic && other.topic !== topic);
  if (writer !== undefined && writer !== reader) {
    const found = `source ${writer.name} sends its dead letters to "${topic}"`;
    faults.push({ member: "topic", found, right: `read another, or name another deadLetterTopic for ${writer.name}` });
  }
  return faults;
}

/** Whether letters of the source come back to its topic, by however many sources. */
function comesBack(source: RelatedSource, others: readonly RelatedSource[]): boolean {
  const passed = new Set<string>();
  let at = source.deadLetterTopic;
  while (at !== source.topic && !passed.has(at)) {
    passed.add(at);
    at = others.find((other) => other.topic === at)?.deadLetterTopic ?? at;
  }
  return at === source.topic;
}
