import type { PauseInForce } from "../core/pause/pause.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { PartitionStateName, PartitionView, SourceView } from "../ports/control-plane.ts";

type Counts = Readonly<Record<PartitionStateName, number>>;

/** What is said of a source as a whole, since when, and why. */
interface SourceStanding extends Pick<SourceView, "observed" | "since" | "reason"> {
  readonly counts: Counts;
}

const NO_PARTITIONS: Counts = {
  unassigned: 0,
  starting: 0,
  verifying: 0,
  running: 0,
  holding: 0,
  paused: 0,
  stopped: 0,
  draining: 0,
};

/** Partitions that a reason names. */
const NAMED = 8;

/** The worst that can be said of the source as a whole, which partition or consumer says it, and when that last changed. */
export function sourceStanding(
  service: SourceService,
  partitions: readonly PartitionView[],
  pause: PauseInForce | undefined,
): SourceStanding {
  const counts = countStates(partitions);
  const [observed, reason] = observedOf(service, counts, partitions);
  const since = sinceOf(service, observed, partitions, pause);
  return { counts, observed, since, ...(reason === undefined ? {} : { reason }) };
}

function countStates(partitions: readonly PartitionView[]): Counts {
  const counts = { ...NO_PARTITIONS };
  for (const partition of partitions) counts[partition.observed] += 1;
  return counts;
}

function stopsText(count: number, { partition, stop }: PartitionView): string {
  const more = count > 1 ? ` (and ${count - 1} more stopped)` : "";
  return `partition ${partition}: ${stop?.code ?? ""}${more}`;
}

function pausedText(partitions: readonly PartitionView[]): string | undefined {
  const paused = partitions.filter(({ observed }) => observed === "paused").map(({ partition }) => partition);
  if (paused.length === 0) return undefined;
  const more = paused.length > NAMED ? ` and ${paused.length - NAMED} more` : "";
  return `${paused.length} of ${partitions.length} partitions paused: ${paused.slice(0, NAMED).join(", ")}${more}`;
}

function observedOf(
  service: SourceService,
  counts: Counts,
  partitions: readonly PartitionView[],
): readonly [SourceView["observed"], string | undefined] {
  const { consumer } = service;
  const first = (state: PartitionStateName) => partitions.find((partition) => partition.observed === state);
  const total = partitions.length;
  if (service.draining) return ["draining", undefined];
  const stopped = first("stopped");
  const stops = stopped === undefined ? undefined : stopsText(counts.stopped, stopped);
  if (consumer.state === "backing-off" || consumer.stalled) {
    return ["backing-off", joined(consumer.text ?? consumer.cause ?? "the consumer ended", stops)];
  }
  const { refusal } = service;
  if (refusal !== undefined) return ["holding", joined(`${refusal.code}: ${refusal.text}`, stops)];
  if (stops !== undefined) return [counts.stopped === total ? "stopped" : "degraded", stops];
  const paused = pausedText(partitions);
  if (counts.holding > 0) return ["holding", joined(first("holding")?.reason ?? "", paused)];
  if (total > 0 && counts.paused === total) return ["paused", first("paused")?.reason];
  const flowing = counts.running + counts.verifying;
  if (flowing > 0 && counts.starting === 0) return ["running", paused];
  return ["starting", consumer.state === "joining" ? consumer.text : paused];
}

function joined(text: string, more: string | undefined): string {
  return more === undefined ? text : `${text}; ${more}`;
}

/** When what is shown last changed: the time of what says it, not of whatever else happens to the source. */
function sinceOf(
  { consumer }: SourceService,
  observed: SourceView["observed"],
  partitions: readonly PartitionView[],
  pause: PauseInForce | undefined,
): number {
  const times = (state: PartitionStateName) =>
    partitions.filter((partition) => partition.observed === state).map(({ since }) => since);
  switch (observed) {
    case "backing-off":
      return consumer.since;
    case "stopped":
    case "degraded":
      return Math.max(...times("stopped"));
    case "holding": {
      const held = times("holding");
      return held.length === 0 ? consumer.since : Math.min(...held);
    }
    default:
      return Math.max(consumer.since, pause?.since ?? 0, ...partitions.map(({ since }) => since));
  }
}
