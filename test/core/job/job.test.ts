import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EMPTY_RECEIPT,
  addReceipts,
  endOf,
  etaSeconds,
  type Job,
  type JobPartition,
  mayTake,
  percentOf,
  stepped,
  taken,
} from "../../../src/core/job/job.ts";

const entry: JobPartition = { partition: 1, from: 10, to: 20, next: 10, state: "pending", receipt: EMPTY_RECEIPT };
const job: Job = {
  id: "j",
  kind: "replay",
  source: "s",
  revision: 1,
  request: {},
  spec: {},
  rates: {},
  actor: "ann",
  reason: "r",
  audit: "0-0",
  createdAtMs: 0,
  state: "queued",
  holder: undefined,
  cancel: undefined,
  startedAtMs: undefined,
  endedAtMs: undefined,
  error: undefined,
  result: undefined,
  partitions: [entry],
};

describe("taking a job", () => {
  const held = taken(job, { name: "a", untilMs: 100 }, 5);

  it("is for one holder at a time, until its time is over", () => {
    expect(held).toMatchObject({ state: "running", startedAtMs: 5, holder: { name: "a", untilMs: 100 } });
    expect(mayTake(job, "b", 0, false)).toBe(true);
    expect(mayTake(held, "a", 50, false)).toBe(true);
    expect(mayTake(held, "b", 99, false)).toBe(false);
    expect(mayTake(held, "b", 100, false)).toBe(true);
  });

  it("is at once where no other process can live", () => {
    expect(mayTake(held, "b", 50, true)).toBe(true);
  });

  it("is never of one that has ended, and keeps when it began", () => {
    for (const state of ["done", "failed", "cancelled"] as const) {
      expect(mayTake({ ...held, state }, "a", 1e9, true)).toBe(false);
    }
    expect(taken(held, { name: "b", untilMs: 300 }, 200).startedAtMs).toBe(5);
  });
});

describe("a step", () => {
  it("goes forward, adds to the receipt and ends the partition at its end", () => {
    const receipt = { ...EMPTY_RECEIPT, read: 4, applied: 4, bytes: 9 };
    const half = stepped(entry, { next: 15, receipt });
    expect(half).toMatchObject({ next: 15, state: "pending", receipt });
    const whole = stepped(half, { next: 25, receipt });
    expect(whole).toMatchObject({ next: 20, state: "done", receipt: { read: 8, applied: 8, bytes: 18 } });
  });

  it("never goes back", () => {
    expect(stepped({ ...entry, next: 15 }, { next: 12, receipt: EMPTY_RECEIPT }).next).toBe(15);
  });

  it("ends a partition whose records are lost, or that fails", () => {
    const lost = { from: 12, to: 20 };
    expect(stepped(entry, { next: 12, receipt: EMPTY_RECEIPT, lost })).toMatchObject({ state: "stopped", lost });
    const error = { code: "X", text: "x" };
    expect(stepped(entry, { next: 10, receipt: EMPTY_RECEIPT, error })).toMatchObject({ state: "failed", error });
  });

  it("adds up, whatever is read in how many steps", () => {
    const step = fc.record({ by: fc.integer({ min: 0, max: 5 }), applied: fc.integer({ min: 0, max: 5 }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let present: JobPartition = { ...entry, to: 1_000 };
        for (const { by, applied } of steps) {
          const receipt = { ...EMPTY_RECEIPT, read: applied + 1, applied, deadLettered: 1 };
          present = stepped(present, { next: present.next + by, receipt });
        }
        const { read, applied, deadLettered } = present.receipt;
        expect(read).toBe(applied + deadLettered);
        expect(deadLettered).toBe(steps.length);
        expect(present.next).toBe(10 + steps.reduce((sum, { by }) => sum + by, 0));
      }),
    );
  });
});

describe("a job as a whole", () => {
  it("has failed where a partition has, and is done where the log has lost something", () => {
    expect(endOf([{ ...entry, state: "done" }])).toBe("done");
    expect(endOf([{ ...entry, state: "stopped" }])).toBe("done");
    expect(
      endOf([
        { ...entry, state: "done" },
        { ...entry, state: "failed" },
      ]),
    ).toBe("failed");
  });

  it("is as far as its offsets; a partition that ended is whole, and nothing to do is all done", () => {
    expect(percentOf([entry, { ...entry, next: 20, state: "done" }])).toBe(50);
    expect(percentOf([{ ...entry, next: 12, state: "stopped" }])).toBe(100);
    expect(percentOf([{ ...entry, to: 10, state: "done" }])).toBe(100);
  });

  it("will be ready when the rest has taken as long as the part before it", () => {
    const running = { partitions: [{ ...entry, next: 15 }], startedAtMs: 1_000 };
    expect(etaSeconds(running, 11_000)).toBe(10);
    expect(etaSeconds({ ...running, startedAtMs: undefined }, 11_000)).toBeUndefined();
    expect(etaSeconds({ ...running, partitions: [entry] }, 11_000)).toBeUndefined();
  });

  it("adds every member of its receipts", () => {
    const one = { read: 1, bytes: 1, applied: 1, alreadyApplied: 1, superseded: 1, deadLettered: 1, failed: 1 };
    expect(new Set(Object.values(addReceipts(one, one)))).toEqual(new Set([2]));
  });
});
