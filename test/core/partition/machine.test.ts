import { describe, expect, it } from "vitest";
import { commitDue, copyDue } from "../../../src/core/partition/commit.ts";
import { PIPELINE_BATCHES } from "../../../src/core/partition/flow.ts";
import { step } from "../../../src/core/partition/machine.ts";
import {
  type DeliveredBatch,
  DISPUTES_DEFAULT,
  INITIAL_STATE,
  type PartitionEffect,
  type PartitionEvent,
  type PartitionState,
} from "../../../src/core/partition/state.ts";

const cause = { code: "KV_NO_QUORUM", text: "two owners are down" };

/** Feeds events one after the other; returns the state and the last event's effects. */
function run(events: readonly PartitionEvent[], from: PartitionState = INITIAL_STATE) {
  let state = from;
  let effects: readonly PartitionEffect[] = [];
  for (const event of events) ({ state, effects } = step(state, event));
  return { state, effects, names: effects.map((effect) => effect.effect) };
}

function startedAt(offset: number): PartitionEvent {
  const copy = { watermark: offset, fingerprint: undefined, logStartSeen: undefined };
  const facts = { startRecord: undefined, committed: offset, copy, bounds: { logStart: 0, end: 1_000 } };
  return { event: "facts", facts, stop: undefined };
}

function batch(fetchedAt: number, next: number, more: Partial<DeliveredBatch> = {}): PartitionEvent {
  const delivered = { records: next - fetchedAt, bytes: 10, logStart: 0, end: 1_000, deliveredAtMs: 0, crowded: false };
  return { event: "batch", batch: { ...delivered, fetchedAt, next, recognised: undefined, ...more } };
}

function acknowledged(seq: number): PartitionEvent {
  return { event: "acknowledged", seq, fingerprint: { offset: seq, timestampMs: 0, hash: `${seq}` } };
}

function bounds(logStart: number, end: number, asked = true): PartitionEvent {
  return { event: "bounds", logStart, end, asked, before: { reached: 0, logStart: 0 } };
}

describe("the watermark", () => {
  it("never passes a gap: acknowledgements out of order wait for the first", () => {
    const { state } = run([startedAt(5), batch(5, 10), batch(10, 20), acknowledged(2)]);
    expect(state.watermark).toBe(5);
    expect(run([acknowledged(1)], state).state.watermark).toBe(20);
  });

  it("passes control records and holes: a batch without records counts once everything before it is acknowledged", () => {
    const { state } = run([startedAt(5), batch(5, 10), batch(10, 30, { records: 0 }), acknowledged(2)]);
    expect(state.watermark).toBe(5);
    expect(run([acknowledged(1)], state).state.watermark).toBe(30);
  });

  it("a batch that was not read at the position breaks an invariant of ours", () => {
    expect(() => run([startedAt(5), batch(6, 10)])).toThrow(/BATCH_ORDER/);
  });
});

describe("back-pressure", () => {
  it("pauses at the pipeline's depth and resumes below half of it", () => {
    const events = [startedAt(0), batch(0, 1), batch(1, 2), batch(2, 3)];
    expect(events).toHaveLength(PIPELINE_BATCHES + 1);
    const full = run(events);
    expect(full.names).toEqual(["process", "pause"]);
    const one = run([acknowledged(1)], full.state);
    expect(one.names).toEqual([]);
    expect(run([acknowledged(2)], one.state).names).toEqual(["resume"]);
  });

  it("pauses at once when the process is crowded", () => {
    expect(run([startedAt(0), batch(0, 1, { crowded: true })]).names).toEqual(["process", "pause"]);
  });
});

describe("holds (I11)", () => {
  it("keeps the failed batch, forgets the later ones, and reads them again after it", () => {
    const held = run([startedAt(0), batch(0, 5), batch(5, 9), { event: "write-failed", seq: 1, cause }]);
    expect(held.names).toEqual(["drop", "pause", "retry-later"]);
    expect(held.state.inFlight.map((entry) => entry.seq)).toEqual([1]);
    const retried = run([{ event: "retry", seq: 1, attempt: 1 }], held.state);
    expect(retried.effects).toEqual([{ effect: "process", seq: 1, from: 0, again: true }]);
    const again = run([{ event: "write-failed", seq: 1, cause }], retried.state);
    expect(again.state.phase).toMatchObject({ phase: "holding", attempts: 2 });
    const done = run([acknowledged(1)], again.state);
    expect(done.effects).toEqual([{ effect: "begin", position: 5 }]);
    expect(done.state.watermark).toBe(5);
  });

  it("a late acknowledgement of a forgotten batch changes nothing", () => {
    const { state } = run([startedAt(0), batch(0, 5), batch(5, 9), { event: "write-failed", seq: 1, cause }]);
    expect(run([acknowledged(2)], state).state).toEqual(state);
  });

  it("facts that cannot be gathered are asked for again, nothing is fetched", () => {
    const { state, effects } = run([{ event: "facts-failed", cause }]);
    expect(effects).toEqual([{ effect: "gather-facts", attempt: 1 }]);
    expect(state.fetching).toBe(false);
  });
});

describe("I4: out of range", () => {
  const fault: PartitionEvent = { event: "fetch-fault", position: 5, fault: "out-of-range", detail: "out of range" };

  it("below log start stops at once, keeps the position, and still commits what was acknowledged before", () => {
    const before = run([startedAt(5), batch(5, 10), fault]);
    expect(before.names).toEqual(["pause", "read-bounds"]);
    const stopped = run([bounds(50, 100)], before.state);
    expect(stopped.names).toEqual(["pause", "persist-stop"]);
    expect(stopped.state.phase).toMatchObject({ phase: "stopped", stop: { code: "BELOW_LOG_START", wanted: 10 } });
    expect(stopped.state.position).toBe(10);
    const settled = run([acknowledged(1), { event: "copied", watermark: 10 }], stopped.state);
    expect(commitDue(settled.state)).toBe(10);
  });

  it("a spurious answer is retried at the same position, a bounded number of times", () => {
    let { state } = run([startedAt(5)]);
    for (let dispute = 1; dispute < DISPUTES_DEFAULT; dispute += 1) {
      const retried = run([fault, bounds(0, 100)], state);
      expect(retried.effects).toEqual([{ effect: "begin", position: 5 }]);
      state = retried.state;
    }
    expect(run([fault, bounds(0, 100)], state).state.phase).toMatchObject({ stop: { code: "OFFSET_DISPUTED" } });
  });

  it("above the end is looked at again before it stops, and then nothing is committed any more", () => {
    let { state } = run([startedAt(5), batch(5, 200), acknowledged(1), fault]);
    for (let attempt = 1; attempt < DISPUTES_DEFAULT; attempt += 1) {
      const again = run([bounds(0, 100)], state);
      expect(again.names).toEqual(["pause", "read-bounds"]);
      state = again.state;
    }
    const stopped = run([bounds(0, 100)], state);
    expect(stopped.state.phase).toMatchObject({ phase: "stopped", stop: { code: "ABOVE_LOG_END" } });
    expect(copyDue(stopped.state)).toBeUndefined();
  });

  it("bounds that were asked for before a batch arrived say nothing about it", () => {
    const { state } = run([startedAt(5), batch(5, 500)]);
    expect(run([bounds(0, 100, false)], state).state.phase.phase).toBe("running");
  });

  it("a log start that falls is another log", () => {
    const { state } = run([startedAt(5)]);
    const fell: PartitionEvent = {
      event: "bounds",
      logStart: 0,
      end: 10,
      asked: false,
      before: { reached: 5, logStart: 3 },
    };
    expect(run([fell], state).state.phase).toMatchObject({ stop: { code: "TOPIC_RECREATED" } });
  });
});

describe("recognising the log", () => {
  const fingerprint = { offset: 49, timestampMs: 1, hash: "aa" };
  const copy = { watermark: 50, fingerprint, logStartSeen: 0 };
  const known = (committed: number | undefined): PartitionEvent => ({
    event: "facts",
    facts: { startRecord: undefined, committed, copy, bounds: { logStart: 0, end: 100 } },
    stop: undefined,
  });

  it("begins at the last acknowledged record and goes on after it", () => {
    const begun = run([known(50)]);
    expect(begun.effects).toEqual([{ effect: "begin", position: 49 }]);
    const read = run([batch(49, 60, { recognised: "equal" })], begun.state);
    expect(read.effects).toEqual([{ effect: "process", seq: 1, from: 50, again: false }]);
  });

  it("another record there stops, and commits nothing", () => {
    const { state } = run([known(50), batch(49, 60, { recognised: "different" })]);
    expect(state.phase).toMatchObject({ phase: "stopped", stop: { code: "TOPIC_RECREATED" } });
    expect(copyDue(state)).toBeUndefined();
  });

  it("a compacted record is vouched for by the commit, and by nothing else", () => {
    expect(run([known(50), batch(49, 60, { recognised: "absent" })]).state.phase.phase).toBe("running");
    expect(run([known(undefined), batch(49, 60, { recognised: "absent" })]).state.phase.phase).toBe("stopped");
  });
});

describe("a commit that a crash left behind its copy", () => {
  const fingerprint = { offset: 49, timestampMs: 1, hash: "aa" };
  const copy = { watermark: 50, fingerprint, logStartSeen: 0 };
  const facts = { startRecord: undefined, committed: 40, copy, bounds: { logStart: 0, end: 60 } };
  const begun = () => run([{ event: "facts", facts, stop: undefined }]);

  it("is gone on from once the last applied record was recognised", () => {
    expect(begun().effects).toEqual([{ effect: "begin", position: 49 }]);
    const back = run([batch(49, 60, { recognised: "equal" })], begun().state);
    expect(back.effects).toEqual([{ effect: "pause" }, { effect: "begin", position: 40 }]);
    const read = run([batch(40, 60)], back.state);
    expect(read.effects).toEqual([{ effect: "process", seq: 1, from: 40, again: false }]);
    const other = run([batch(49, 60, { recognised: "different" })], begun().state);
    expect(other.state.phase).toMatchObject({ phase: "stopped", stop: { code: "TOPIC_RECREATED", wanted: 40 } });
  });

  it("a log that ends below the copy meanwhile is noticed although nothing is read there", () => {
    const ends = (end: number): PartitionEvent =>
      ({ ...bounds(0, end, false), before: { reached: 50, logStart: 0 } }) as PartitionEvent;
    let { state } = run([ends(45)], begun().state);
    expect(state.phase.phase).toBe("holding");
    for (let attempt = 0; attempt < DISPUTES_DEFAULT; attempt += 1) state = run([bounds(0, 45)], state).state;
    expect(state.phase).toMatchObject({ phase: "stopped", stop: { code: "ABOVE_LOG_END", wanted: 50 } });
  });
});

describe("a leader that nobody has read from yet", () => {
  const print = { offset: 9, timestampMs: 0, hash: "9" };
  const under = (first: number, last = first) => ({ leaderEpochs: { first, last } });
  /** [5, 10) applied under epoch 3, [10, 20) in flight under it. */
  const read = () =>
    run([
      startedAt(5),
      batch(5, 10, under(3)),
      { event: "acknowledged", seq: 1, fingerprint: print },
      batch(10, 20, under(3)),
    ]).state;

  it("makes the last acknowledged record be looked at first; what is in flight is read again", () => {
    const doubted = run([batch(20, 30, under(4))], read());
    expect(doubted.effects).toEqual([
      { effect: "drop", seqs: [2] },
      { effect: "pause" },
      { effect: "begin", position: 9 },
    ]);
    expect(doubted.state.phase).toMatchObject({ phase: "verifying", verify: { fingerprint: print } });
    const other = run([batch(9, 30, { recognised: "different", ...under(4) })], doubted.state);
    expect(other.state.phase).toMatchObject({ phase: "stopped", stop: { code: "TOPIC_RECREATED", wanted: 10 } });
    expect(copyDue(other.state)).toBeUndefined();
  });

  it("is recognised once: whatever is read again under earlier ones is not doubted anew", () => {
    let { state } = run([batch(20, 30, under(4))], read());
    state = run(
      [batch(9, 15, { recognised: "equal", ...under(3) }), batch(15, 20, under(3)), batch(20, 30, under(3, 4))],
      state,
    ).state;
    expect([state.phase.phase, state.position]).toEqual(["running", 30]);
    expect(run([batch(30, 40, under(4))], state).state.position).toBe(40);
    expect(run([batch(30, 40, under(5))], state).state.phase.phase).toBe("verifying");
  });

  it("an epoch below that of what is acknowledged is another log, one below what is in flight is read again", () => {
    expect(run([batch(20, 30, under(2))], read()).state.phase.phase).toBe("verifying");
    expect(run([batch(20, 30, under(3))], read()).state.phase.phase).toBe("running");
    const grown = run([batch(20, 30, under(3, 7)), acknowledged(2), { event: "write-failed", seq: 3, cause }], read());
    expect(run([{ event: "retry", seq: 3, attempt: 1 }], grown.state).names).toEqual(["process"]);
  });

  it("says nothing before anything was applied, and where the broker keeps no epochs", () => {
    expect(run([startedAt(5), batch(5, 10, under(3)), batch(10, 20, under(9))]).state.phase.phase).toBe("running");
    expect(run([batch(20, 30)], read()).state.phase.phase).toBe("running");
  });
});

describe("a dispute while the log is being recognised", () => {
  const fingerprint = { offset: 49, timestampMs: 1, hash: "aa" };
  const copy = { watermark: 50, fingerprint, logStartSeen: 0 };
  const known = (committed: number | undefined): PartitionEvent => ({
    event: "facts",
    facts: { startRecord: undefined, committed, copy, bounds: { logStart: 0, end: 100 } },
    stop: undefined,
  });
  const fault: PartitionEvent = { event: "fetch-fault", position: 49, fault: "out-of-range", detail: "out of range" };

  it("names what is wanted, not the applied record before it", () => {
    const lost = run([known(50), fault, bounds(60, 100)]).state.phase;
    expect(lost).toMatchObject({ stop: { code: "BELOW_LOG_START", wanted: 50, lost: { from: 50, to: 60 } } });
    let { state } = run([known(50)]);
    for (let dispute = 0; dispute < DISPUTES_DEFAULT; dispute += 1) state = run([fault, bounds(0, 100)], state).state;
    expect(state.phase).toMatchObject({ stop: { code: "OFFSET_DISPUTED", wanted: 50 } });
  });

  it("goes on without the record that retention took, where the commit vouches for the log", () => {
    const { state, effects } = run([known(50), fault, bounds(50, 100)]);
    expect([state.phase.phase, state.position, effects]).toEqual(["running", 50, [{ effect: "begin", position: 50 }]]);
    const lone = run([known(undefined), fault, bounds(50, 100)]).state.phase;
    expect(lone).toMatchObject({ phase: "stopped", stop: { code: "TOPIC_RECREATED", wanted: 50 } });
  });
});

describe("commits (I1, I2)", () => {
  it("follow the copy, never precede it", () => {
    const { state } = run([startedAt(5), batch(5, 10), acknowledged(1)]);
    expect(copyDue(state)).toMatchObject({ watermark: 10, fingerprint: { hash: "1" } });
    expect(commitDue(state)).toBeUndefined();
    expect(commitDue(run([{ event: "copied", watermark: 10 }], state).state)).toBe(10);
  });

  it("a commit that vanished stops the partition", () => {
    const { state } = run([startedAt(5), { event: "read-back", committed: undefined, copy: 5 }]);
    expect(state.phase).toMatchObject({ stop: { code: "COMMIT_VANISHED" } });
  });

  it("a commit ahead of the copy was moved by somebody", () => {
    const { state } = run([startedAt(5), { event: "read-back", committed: 6, copy: 5 }]);
    expect(state.phase).toMatchObject({ stop: { code: "COMMIT_MOVED" } });
  });

  it("a commit that another owner made after we lost the partition is not a stop: the stored copy judges", () => {
    const { state } = run([startedAt(5), { event: "read-back", committed: 60, copy: 60 }]);
    expect(state.phase.phase).toBe("running");
    expect(commitDue(state)).toBeUndefined();
  });

  it("our own commit whose answer was lost is recognised", () => {
    const { state } = run([
      startedAt(5),
      batch(5, 10),
      acknowledged(1),
      { event: "copied", watermark: 10 },
      { event: "read-back", committed: 10, copy: 10 },
    ]);
    expect(state.phase.phase).toBe("running");
    expect(commitDue(state)).toBeUndefined();
  });

  it("asserts that a confirmed commit is not ahead of the copy", () => {
    expect(() => run([startedAt(5), { event: "committed", offset: 9 }])).toThrow(/COMMIT_AHEAD/);
  });
});

describe("stops last (I13)", () => {
  it("a partition that was stopped before stays so and fetches nothing", () => {
    const event = startedAt(5);
    if (event.event !== "facts") throw new Error("expected facts");
    const { state, effects } = run([{ ...event, stop: { code: "POISON", detail: "offset 5" } }]);
    expect(state.phase).toMatchObject({ phase: "stopped", stop: { code: "POISON" } });
    expect(effects).toEqual([]);
  });

  it("poison under policy stop ends the batch before it", () => {
    const { state } = run([
      startedAt(0),
      batch(0, 10),
      { event: "poison", seq: 1, code: "POISON", offset: 4, detail: "bad" },
    ]);
    expect(run([acknowledged(1)], state).state.watermark).toBe(4);
  });
});

describe("draining and revocation", () => {
  it("a draining partition takes no batch but lets acknowledgements in", () => {
    const { state } = run([startedAt(0), batch(0, 5), { event: "drain" }]);
    expect(run([batch(5, 9)], state).state.inFlight).toHaveLength(1);
    expect(run([acknowledged(1)], state).state.watermark).toBe(5);
  });

  it("after revocation nothing changes any more", () => {
    const gone = run([startedAt(0), batch(0, 5), { event: "revoked" }]);
    expect(gone.effects).toEqual([{ effect: "drop", seqs: [1] }]);
    expect(run([acknowledged(1)], gone.state).state).toEqual(gone.state);
  });
});
