import { commitDue, copyDue } from "../../../src/core/partition/commit.ts";
import { step } from "../../../src/core/partition/machine.ts";
import { decideResume } from "../../../src/core/partition/resume.ts";
import type { PartitionEvent, PartitionState, Step } from "../../../src/core/partition/state.ts";
import { writeVerdict } from "../../../src/kv/quorum.ts";

/** The pure rules that the simulation runs. */
export interface Core {
  readonly step: typeof step;
  readonly copyDue: typeof copyDue;
  readonly commitDue: typeof commitDue;
  readonly decideResume: typeof decideResume;
  readonly writeVerdict: typeof writeVerdict;
}

/** The rules as they are. */
export const CORE: Core = { step, copyDue, commitDue, decideResume, writeVerdict };

type Facts = Extract<PartitionEvent, { event: "facts" }>;

/** The machine, with one kind of event answered differently. */
function withStep<E extends PartitionEvent["event"]>(
  kind: E,
  answer: (state: PartitionState, event: Extract<PartitionEvent, { event: E }>) => Step,
): Core {
  const is = (event: PartitionEvent): event is Extract<PartitionEvent, { event: E }> => event.event === kind;
  return { ...CORE, step: (state, event) => (is(event) ? answer(state, event) : step(state, event)) };
}

function withFacts(change: (event: Facts) => Facts): Core {
  return withStep("facts", (state, event) => step(state, change(event)));
}

function jump(state: PartitionState, to: number): Step {
  const moved: PartitionState = {
    ...state,
    phase: { phase: "running", disputes: 0 },
    position: to,
    watermark: to,
    inFlight: [],
    fetching: true,
  };
  return {
    state: moved,
    effects: [
      { effect: "drop", seqs: state.inFlight.map(({ seq }) => seq) },
      { effect: "begin", position: to },
    ],
  };
}

/** Ways to break one invariant on purpose, each by its name. */
export const MUTANTS: Readonly<Record<string, Core>> = {
  "I1: the watermark passes a gap": withStep("acknowledged", (state, event) => {
    const result = step(state, event);
    const last = result.state.inFlight.findLast(({ acknowledged }) => acknowledged);
    if (last === undefined) return result;
    const inFlight = result.state.inFlight.filter(({ seq }) => seq > last.seq);
    return { ...result, state: { ...result.state, watermark: last.next, inFlight } };
  }),
  "I1: the position is committed": {
    ...CORE,
    commitDue: (state) => (commitDue(state) === undefined ? undefined : state.position),
  },
  "I2: what is committed is not looked at": {
    ...CORE,
    commitDue: (state) => {
      const due = commitDue(state);
      return due === undefined ? undefined : Math.max(due - 3, (state.startedAt ?? 0) + 1);
    },
  },
  "I2: a revoked partition goes on": withStep("revoked", (state) => ({ state, effects: [] })),
  "I3: one owner is enough": { ...CORE, writeVerdict: (tally) => writeVerdict(tally, 1) },
  "I4: out of range jumps to the end": withStep("fetch-fault", (state, event) =>
    event.fault === "out-of-range" && state.phase.phase === "running"
      ? jump(state, state.end ?? 0)
      : step(state, event),
  ),
  "I4: below the log's start goes on at it": withStep("bounds", (state, event) => {
    const lost = event.asked && (state.position ?? 0) < event.logStart;
    return lost && state.phase.phase === "holding" ? jump(state, event.logStart) : step(state, event);
  }),
  "I4: a dispute never ends": withStep("fetch-fault", (state, event) =>
    step({ ...state, disputesMax: Number.MAX_SAFE_INTEGER }, event),
  ),
  "I5: the start record is not looked at": withFacts((event) => ({
    ...event,
    facts: {
      ...event.facts,
      startRecord: event.facts.startRecord?.reach === undefined ? event.facts.startRecord : undefined,
    },
  })),
  "I5: without a commit it starts at the end": withStep("facts", (state, event) => {
    const { committed, copy, bounds } = event.facts;
    const at = { ...event.facts, committed: bounds.end };
    return step(
      state,
      committed === undefined && copy === undefined
        ? event
        : {
            ...event,
            facts:
              committed === undefined
                ? {
                    ...at,
                    copy: undefined,
                    startRecord: { from: bounds.end, before: null, copyBefore: null, settled: false },
                  }
                : event.facts,
          },
    );
  }),
  "I5: the log is not recognised": withFacts((event) => ({
    ...event,
    facts: {
      ...event.facts,
      copy: event.facts.copy && { ...event.facts.copy, fingerprint: undefined, logStartSeen: undefined },
    },
  })),
  "I5: a commit that was moved is believed": withFacts((event) => {
    const { committed, copy } = event.facts;
    if (committed === undefined || copy === undefined || committed <= copy.watermark) return event;
    return { ...event, facts: { ...event.facts, copy: { ...copy, watermark: committed, fingerprint: undefined } } };
  }),
  "I5: a new leader is believed": withStep("batch", (state, event) =>
    step(state, { event: "batch", batch: { ...event.batch, leaderEpochs: undefined } }),
  ),
  "I11: a write that failed is passed over": withStep("write-failed", (state, event) =>
    step(state, { event: "acknowledged", seq: event.seq, fingerprint: undefined }),
  ),
  "I12: what an operator passes over is not entered": {
    ...CORE,
    decideResume: (facts, request) => {
      const decision = decideResume(facts, request);
      return decision.decision === "resume" ? { ...decision, passedOver: [] } : decision;
    },
  },
  "I13: a stop is not looked at when the partition starts": withFacts((event) => ({ ...event, stop: undefined })),
  "I13: a pause is not obeyed": withStep("pause", (state) => ({ state, effects: [] })),
};
