import { invariant } from "../invariant.ts";
import { OFFSET_LIMIT, type Offset } from "../offset.ts";
import type { Fingerprint } from "./copy.ts";
import type {
  Cause,
  DeliveredBatch,
  InFlight,
  PartitionEffect,
  PartitionEvent,
  PartitionState,
  Step,
} from "./state.ts";
import type { Stop } from "./stop.ts";
import { advance, halted, truncateAfter, unchanged } from "./transition.ts";

/** Batches of one partition between delivery and acknowledgement; at this many, fetching pauses. */
export const PIPELINE_BATCHES = 3;

/** The next records. Outside `running` and `verifying` they are not wanted: they will be read again. */
export function onBatch(state: PartitionState, batch: DeliveredBatch): Step {
  const { phase } = state;
  if (phase.phase !== "running" && phase.phase !== "verifying") return unchanged(state);
  invariant(
    batch.fetchedAt === state.position,
    "BATCH_ORDER",
    `read at ${batch.fetchedAt}, expected ${state.position}`,
  );
  invariant(batch.next >= batch.fetchedAt, "BATCH_ORDER", `next ${batch.next} below ${batch.fetchedAt}`);
  if (phase.phase === "verifying" && batch.recognised === undefined)
    return unchanged({ ...state, position: batch.next });
  const doubt = phase.phase === "running" ? newLeader(state, batch) : undefined;
  if (doubt !== undefined) return doubt;
  const anotherLog = phase.phase === "verifying" ? verdict(state, batch, phase.verify.ifAbsent) : undefined;
  if (anotherLog !== undefined) return halted(state, anotherLog);
  const watermark = state.watermark ?? 0;
  if (phase.phase === "verifying" && batch.fetchedAt > watermark) return goBack(state, watermark);
  const leaderEpoch = knownEpochs(state.leaderEpoch, batch.leaderEpochs);
  return accept({ ...state, phase: { phase: "running", disputes: 0 }, end: batch.end, leaderEpoch }, batch);
}

/** The log is the one that was read; reading begins behind the record that told so, where the commit was left behind the copy. */
function goBack(state: PartitionState, watermark: Offset): Step {
  return {
    state: { ...state, phase: { phase: "running", disputes: 0 }, position: watermark, fetching: true },
    effects: [{ effect: "pause" }, { effect: "begin", position: watermark }],
  };
}

/**
 * A leader that nobody has read from yet may have a log of its own, which has grown past our position already, so that
 * nothing is out of range:
 *
 * 1. records 90 to 99 are applied, and were not replicated; their leader dies;
 * 2. a replica that ends at 90 is elected (unclean), and producers write other records at 90 to 120;
 * 3. we go on at 100, in the middle of what is not the log that we read.
 *
 * Epochs of leaders never fall along a log, so a batch of an earlier one than that of what is acknowledged is of another log,
 * too: the topic was created again. In both cases the last acknowledged record is looked at first.
 */
function newLeader(state: PartitionState, { leaderEpochs, logStart }: DeliveredBatch): Step | undefined {
  const { leaderEpoch, fingerprint } = state;
  if (leaderEpochs === undefined || leaderEpoch === undefined || fingerprint === undefined) return undefined;
  const { first } = leaderEpochs;
  if (first <= leaderEpoch.known && first >= leaderEpoch.acknowledged) return undefined;
  if (fingerprint.offset < (logStart ?? state.logStart ?? 0)) return undefined;
  const from = fingerprint.offset;
  const kept = truncateAfter(state, 0, from);
  return {
    state: {
      ...kept.state,
      phase: { phase: "verifying", verify: { fingerprint, ifAbsent: "go-on" }, disputes: 0 },
      // Once recognised it is not asked about again, or what was read before would be doubted when it is read again.
      leaderEpoch: {
        known: Math.max(first, leaderEpoch.known),
        acknowledged: Math.min(first, leaderEpoch.acknowledged),
      },
      fetching: true,
    },
    effects: [...kept.effects, { effect: "pause" }, { effect: "begin", position: from }],
  };
}

function knownEpochs(
  before: PartitionState["leaderEpoch"],
  read: DeliveredBatch["leaderEpochs"],
): PartitionState["leaderEpoch"] {
  if (read === undefined) return before;
  return before === undefined
    ? { known: read.last, acknowledged: Math.min(read.first, read.last) }
    : { ...before, known: Math.max(before.known, read.last) };
}

function verdict(state: PartitionState, batch: DeliveredBatch, ifAbsent: "go-on" | "stop"): Stop | undefined {
  const bad = batch.recognised === "different" || (batch.recognised === "absent" && ifAbsent === "stop");
  if (!bad) return undefined;
  const detail = `the record at ${batch.fetchedAt} is ${batch.recognised === "absent" ? "gone" : "another one"}`;
  return { code: "TOPIC_RECREATED", detail, ...(state.watermark === undefined ? {} : { wanted: state.watermark }) };
}

function accept(state: PartitionState, batch: DeliveredBatch): Step {
  const watermark = state.watermark ?? batch.fetchedAt;
  const moved: PartitionState = { ...state, position: batch.next, logStart: higher(state.logStart, batch.logStart) };
  if (batch.next > OFFSET_LIMIT) {
    return halted(state, { code: "OFFSET_LIMIT", detail: `offset ${batch.next - 1}`, wanted: batch.fetchedAt });
  }
  if (batch.next <= watermark) return unchanged(moved);
  const from = Math.max(batch.fetchedAt, watermark);
  const { next, records, bytes, deliveredAtMs } = batch;
  const entry: InFlight = {
    seq: state.nextSeq,
    from,
    next,
    records,
    bytes,
    deliveredAtMs,
    acknowledged: false,
    leaderEpoch: batch.leaderEpochs?.last,
    fingerprint: undefined,
  };
  const inFlight = [...state.inFlight, entry];
  const effects: PartitionEffect[] = [{ effect: "process", seq: entry.seq, from, again: false }];
  const pausing = batch.crowded || inFlight.length >= PIPELINE_BATCHES;
  if (pausing) effects.push({ effect: "pause" });
  return { state: { ...moved, inFlight, nextSeq: entry.seq + 1, fetching: !pausing }, effects };
}

/** A batch may have been fetched before bounds that were read later: a lower log start in it means nothing. */
function higher(a: Offset | undefined, b: Offset | undefined): Offset | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** A batch is durable at W, its dead letters confirmed. A batch that was dropped meanwhile changes nothing. */
export function onAcknowledged(state: PartitionState, seq: number, fingerprint: Fingerprint | undefined): Step {
  if (!state.inFlight.some((batch) => batch.seq === seq)) return unchanged(state);
  const inFlight = state.inFlight.map((batch) =>
    batch.seq === seq ? { ...batch, acknowledged: true, fingerprint } : batch,
  );
  const passed = advance(state, inFlight);
  invariant(
    (passed.watermark ?? 0) >= (state.watermark ?? 0),
    "WATERMARK_FELL",
    `from ${state.watermark} to ${passed.watermark}`,
  );
  const { phase } = state;
  if (phase.phase === "holding" && phase.on.hold === "write" && phase.on.seq === seq) return goOn(passed);
  if (phase.phase !== "running" || passed.fetching || passed.inFlight.length > PIPELINE_BATCHES / 2) {
    return unchanged(passed);
  }
  return { state: { ...passed, fetching: true }, effects: [{ effect: "resume" }] };
}

function goOn(state: PartitionState): Step {
  invariant(state.position !== undefined, "HOLD_POSITION", "a hold knows its position");
  return {
    state: { ...state, phase: { phase: "running", disputes: 0 }, fetching: true },
    effects: [{ effect: "begin", position: state.position }],
  };
}

/**
 * A store or broker fault while writing. The batch is kept and tried again; what came after it is forgotten, so a held
 * partition keeps one batch in memory (I16), and read again afterwards. A stopped or draining partition gives it up.
 */
export function onWriteFailed(state: PartitionState, seq: number, cause: Cause): Step {
  const held = state.inFlight.find((batch) => batch.seq === seq && !batch.acknowledged);
  if (held === undefined) return unchanged(state);
  const { phase } = state;
  if (phase.phase === "stopped" || phase.phase === "draining") return truncateAfter(state, seq - 1, held.from);
  const attempts =
    phase.phase === "holding" && phase.on.hold === "write" && phase.on.seq === seq ? phase.attempts + 1 : 1;
  const truncated = truncateAfter(state, seq, held.next);
  return {
    state: {
      ...truncated.state,
      phase: { phase: "holding", on: { hold: "write", seq }, cause, attempts },
      fetching: false,
    },
    effects: [...truncated.effects, { effect: "pause" }, { effect: "retry-later", seq, attempt: attempts }],
  };
}

/**
 * The wait is over: the held batch is written again. Waits of earlier holds may still be running out (each of several
 * batches in flight fails by itself); only the wait of the present attempt counts, so one write is under way at a time.
 */
export function onRetry(state: PartitionState, seq: number, attempt: number): Step {
  const { phase } = state;
  if (phase.phase !== "holding" || phase.on.hold !== "write") return unchanged(state);
  if (phase.on.seq !== seq || phase.attempts !== attempt) return unchanged(state);
  const held = state.inFlight.find((batch) => batch.seq === seq);
  invariant(held !== undefined, "HOLD_BATCH", `batch ${seq} is held but not in flight`);
  return { state, effects: [{ effect: "process", seq, from: held.from, again: true }] };
}

/** Policy `stop`, or the breaker: the batch ends before the poison, what is before it may still be acknowledged. */
export function onPoison(state: PartitionState, event: Extract<PartitionEvent, { event: "poison" }>): Step {
  const { seq, offset, code, detail } = event;
  const poisoned = state.inFlight.find((batch) => batch.seq === seq);
  if (poisoned === undefined) return unchanged(state);
  const truncated = truncateAfter(state, seq, offset);
  const inFlight = truncated.state.inFlight.map((batch) => (batch.seq === seq ? { ...batch, next: offset } : batch));
  const stopped = halted({ ...truncated.state, inFlight }, { code, detail, wanted: offset });
  return { state: stopped.state, effects: [...truncated.effects, ...stopped.effects] };
}
