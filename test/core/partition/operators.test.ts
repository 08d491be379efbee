import { describe, expect, it } from "vitest";
import { commitDue } from "../../../src/core/partition/commit.ts";
import { step } from "../../../src/core/partition/machine.ts";
import {
  INITIAL_STATE,
  type PartitionEffect,
  type PartitionEvent,
  type PartitionState,
} from "../../../src/core/partition/state.ts";

function run(events: readonly PartitionEvent[], from: PartitionState = INITIAL_STATE) {
  let state = from;
  let effects: readonly PartitionEffect[] = [];
  for (const event of events) ({ state, effects } = step(state, event));
  return { state, effects, names: effects.map(({ effect }) => effect) };
}

const cause = { code: "KV_NO_QUORUM", text: "two owners are down" };
const bounds = { logStart: 0, end: 1_000 };
const copy = (watermark: number) => ({ watermark, fingerprint: undefined, logStartSeen: undefined });
const facts = (offset: number): PartitionEvent => ({
  event: "facts",
  facts: { startRecord: undefined, committed: offset, copy: copy(offset), bounds },
  stop: undefined,
});
const batch = (fetchedAt: number, next: number): PartitionEvent => ({
  event: "batch",
  batch: {
    fetchedAt,
    next,
    records: next - fetchedAt,
    bytes: 10,
    logStart: 0,
    end: 1_000,
    deliveredAtMs: 0,
    crowded: false,
    recognised: undefined,
  },
});
const pause = (paused: boolean): PartitionEvent => ({ event: "pause", paused });
const acknowledged = (seq: number): PartitionEvent => ({ event: "acknowledged", seq, fingerprint: undefined });

describe("a paused partition", () => {
  it("fetches no more, but what was fetched is applied and counts", () => {
    const paused = run([facts(0), batch(0, 5), pause(true)]);
    expect([paused.names, paused.state.fetching]).toEqual([["pause"], false]);
    const done = run([acknowledged(1)], paused.state);
    expect([done.names, done.state.watermark]).toEqual([[], 5]);
  });

  it("goes on from its position when the pause ends", () => {
    expect(run([facts(0), batch(0, 5), pause(true), acknowledged(1), pause(false)]).effects).toEqual([
      { effect: "begin", position: 5 },
    ]);
  });

  it("that was paused while it started does not begin", () => {
    const { state, names } = run([pause(true), facts(7)]);
    expect([names, state.phase.phase, state.fetching]).toEqual([[], "running", false]);
    expect(run([pause(false)], state).effects).toEqual([{ effect: "begin", position: 7 }]);
  });

  it("does not begin when a hold ends, or a dispute is settled", () => {
    const held = run([facts(0), batch(0, 5), { event: "write-failed", seq: 1, cause }, pause(true), acknowledged(1)]);
    expect([held.names, held.state.fetching, held.state.phase.phase]).toEqual([[], false, "running"]);
    const fault: PartitionEvent = { event: "fetch-fault", position: 0, fault: "out-of-range", detail: "spurious" };
    const answer: PartitionEvent = { event: "bounds", ...bounds, asked: true, before: { reached: 0, logStart: 0 } };
    expect(run([facts(0), fault, pause(true), answer]).names).toEqual([]);
  });

  it("that is stopped as well is both: ending the pause does not start it", () => {
    const halt: PartitionEvent = { event: "halt", stop: { code: "INVARIANT_BROKEN", detail: "x" } };
    const ended = run([facts(0), halt, pause(true), pause(false)]);
    expect([ended.names, ended.state.phase.phase]).toEqual([[], "stopped"]);
  });
});

describe("an operator's start behind what is committed", () => {
  const startRecord = { from: 100, before: 900, copyBefore: 100, settled: false, reach: 900 };
  const back: PartitionEvent = {
    event: "facts",
    facts: { startRecord, committed: 900, copy: copy(100), bounds },
    stop: undefined,
  };

  it("is not stopped again by the commit that it knows of, and lowers it once (I2)", () => {
    const readBack: PartitionEvent = { event: "read-back", committed: 900, copy: 100 };
    const begun = run([back, readBack]);
    expect([begun.state.phase.phase, commitDue(begun.state)]).toEqual(["running", undefined]);
    const { state } = run([batch(100, 150), acknowledged(1), { event: "copied", watermark: 150 }], begun.state);
    expect(commitDue(state)).toBe(150);
    const lowered = run([{ event: "committed", offset: 150 }], state).state;
    expect(commitDue(lowered)).toBeUndefined();
    expect(run([{ event: "read-back", committed: 900, copy: 150 }], lowered).state.phase).toMatchObject({
      phase: "stopped",
      stop: { code: "COMMIT_MOVED" },
    });
  });

  it("is stopped by any other commit ahead of the copy", () => {
    const { state } = run([back, { event: "read-back", committed: 901, copy: 100 }]);
    expect(state.phase).toMatchObject({ phase: "stopped", stop: { code: "COMMIT_MOVED" } });
  });
});
