import type { Offset } from "../core/offset.ts";
import type { PauseInForce } from "../core/pause/pause.ts";
import { wantedOf } from "../core/partition/range.ts";
import { STOPS, type Stop, pageOf } from "../core/partition/stop.ts";
import type { PartitionState } from "../core/partition/state.ts";
import type { PartitionRunner } from "../fleet/partition-runner.ts";
import type { StoredStop } from "../fleet/source-survey.ts";
import type {
  HoldView,
  OldestUnacknowledged,
  PartitionStateName,
  PartitionView,
  StopView,
} from "../ports/control-plane.ts";
import type { BoundsAnswer } from "../ports/record-source.ts";

/** One partition as people read it. */
export function partitionView(
  source: string,
  runner: PartitionRunner,
  nowMs: number,
  stored: StoredStop | undefined,
  pause: PauseInForce | undefined,
): PartitionView {
  return withPause(unpausedView(source, runner, nowMs, stored), pause);
}

/** States in which nothing is wrong: a pause is what there is to say. */
const IDLE: ReadonlySet<PartitionStateName> = new Set(["running", "verifying", "starting"]);

/** An operator's pause beside what the system does: a partition that waits or is stopped says so, paused or not. */
function withPause(view: PartitionView, pause: PauseInForce | undefined): PartitionView {
  if (pause === undefined) return view;
  return { ...view, desired: "paused", pause, ...(IDLE.has(view.observed) ? pausedPart(pause) : {}) };
}

function pausedPart({ reason, since, by }: PauseInForce) {
  return { observed: "paused" as const, since, reason: by === "source" ? `the source is paused: ${reason}` : reason };
}

function unpausedView(
  source: string,
  runner: PartitionRunner,
  nowMs: number,
  stored: StoredStop | undefined,
): PartitionView {
  const view = runnerView(source, runner, nowMs);
  // A start that cannot gather its facts does not know yet that the partition is stopped; the store has said so before.
  if (stored === undefined || runner.state.phase.phase !== "starting") return view;
  return { ...view, observed: "stopped", ...stoppedPart(stored) };
}

function stoppedPart({ stop, since }: StoredStop) {
  const view = stopView(stop, since);
  return { since, reason: view.text, stop: view };
}

function runnerView(source: string, runner: PartitionRunner, nowMs: number): PartitionView {
  const { state, since } = runner;
  const { committed, watermark, logStart, end, inFlight } = state;
  const position = wantedOf(state);
  const hold = holdView(state, since);
  const stop = state.phase.phase === "stopped" ? stopView(state.phase.stop, since) : undefined;
  const [oldest] = inFlight;
  const reason = stop?.text ?? hold?.text;
  const shown = observed(state);
  return {
    source,
    partition: runner.partition,
    desired: "running",
    observed: shown,
    // What a pause hid since then is news since then.
    since: IDLE.has(shown) ? Math.max(since, runner.unpausedAt) : since,
    topicEpoch: runner.topicEpoch,
    inFlight: {
      batches: inFlight.length,
      records: inFlight.reduce((sum, batch) => sum + batch.records, 0),
      bytes: inFlight.reduce((sum, batch) => sum + batch.bytes, 0),
    },
    counts: { ...runner.counts },
    ...(reason === undefined ? {} : { reason }),
    ...(committed === undefined ? {} : { committed }),
    ...(watermark === undefined ? {} : { watermark }),
    ...(position === undefined ? {} : { position }),
    ...(logStart === undefined ? {} : { logStart }),
    ...(end === undefined ? {} : { end }),
    ...(oldest === undefined
      ? {}
      : { oldestUnacknowledged: oldestView(runner, oldest.from, nowMs - oldest.deliveredAtMs) }),
    ...(stop === undefined ? {} : { stop }),
    ...(hold === undefined ? {} : { hold }),
  };
}

function oldestView({ oldestInFlight }: PartitionRunner, from: Offset, ageMs: number): OldestUnacknowledged {
  return {
    offset: oldestInFlight?.offset ?? from,
    ageMs: Math.max(ageMs, 0),
    ...(oldestInFlight === undefined ? {} : { key: oldestInFlight.key }),
    ...(oldestInFlight?.ackedBy === undefined ? {} : { ackedBy: oldestInFlight.ackedBy }),
  };
}

/** What is known of a partition that this process does not run now. */
interface Elsewhere {
  readonly source: string;
  readonly partition: number;
  readonly answer: BoundsAnswer | undefined;
  readonly committed: Pick<PartitionView, "committed" | "committedFrom">;
  readonly stop: StoredStop | undefined;
  readonly pause: PauseInForce | undefined;
  readonly topicEpoch: number;
  readonly since: number;
  readonly reason: string;
}

/** A partition of the topic that this process does not run now; stopped is stopped, whoever has it. */
export function unassignedView({ answer, committed, stop, pause, ...rest }: Elsewhere): PartitionView {
  const view: PartitionView = {
    ...rest,
    desired: "running",
    ...(stop === undefined ? { observed: "unassigned" } : { observed: "stopped", ...stoppedPart(stop) }),
    inFlight: { batches: 0, records: 0, bytes: 0 },
    counts: { delivered: 0, written: 0, deadLettered: 0, folded: 0 },
    ...committed,
    ...(answer?.known === true ? { logStart: answer.logStart, end: answer.end } : {}),
  };
  return withPause(view, pause);
}

/** A start that has failed is a hold: nothing is read until it works. */
function observed({ phase }: PartitionState): PartitionStateName {
  if (phase.phase === "gone") return "unassigned";
  return phase.phase === "starting" && phase.cause !== undefined ? "holding" : phase.phase;
}

function holdView({ phase }: PartitionState, since: number): HoldView | undefined {
  if (phase.phase !== "holding" && phase.phase !== "starting") return undefined;
  return phase.cause === undefined ? undefined : { ...phase.cause, since, attempts: phase.attempts };
}

function stopView(stop: Stop, since: number): StopView {
  const { text, remedy } = STOPS[stop.code];
  return {
    code: stop.code,
    text: `${text} (${stop.detail})`,
    since,
    remedy,
    page: pageOf(stop.code),
    ...(stop.wanted === undefined ? {} : { wanted: stop.wanted }),
    ...(stop.bounds === undefined ? {} : { bounds: stop.bounds }),
    ...(stop.lost === undefined ? {} : { lost: stop.lost }),
  };
}
