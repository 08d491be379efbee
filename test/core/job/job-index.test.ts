import { describe, expect, it } from "vitest";
import { admit, JOBS_ACTIVE_MAX, JOBS_KEPT, type JobEntry, withEnded } from "../../../src/core/job/job-index.ts";
import { Pace } from "../../../src/core/job/pace.ts";

const entry = (id: string, more: Partial<JobEntry> = {}): JobEntry => ({
  id,
  kind: "replay",
  createdAtMs: 0,
  ended: false,
  ranges: [{ partition: 0, from: 10, to: 20 }],
  ...more,
});
const at = (from: number, to: number, partition = 0) => ({ ranges: [{ partition, from, to }] });

describe("a submission", () => {
  it("is refused while another job applies to one of its offsets, and names it", () => {
    for (const range of [at(0, 11), at(19, 30), at(12, 13), at(0, 100)]) {
      expect(admit([entry("a")], entry("b", range))).toEqual({
        admission: "overlap",
        id: "a",
        kind: "replay",
        partition: 0,
      });
    }
    for (const range of [at(0, 10), at(20, 30), at(10, 20, 1), { ranges: [] }]) {
      expect(admit([entry("a")], entry("b", range)).admission).toBe("new");
    }
    expect(admit([entry("a", { ended: true })], entry("b")).admission).toBe("new");
  });

  it("with a key is the first one's again, or refused for another request", () => {
    const first = entry("a", { key: { name: "k", hash: "1" }, ended: true });
    expect(admit([first], entry("b", { key: { name: "k", hash: "1" } }))).toEqual({ admission: "known", id: "a" });
    expect(admit([first], entry("b", { key: { name: "k", hash: "2" } }))).toEqual({ admission: "key-reused", id: "a" });
  });

  it("is one of a bounded number; the oldest that ended give their place", () => {
    const active = Array.from({ length: JOBS_ACTIVE_MAX }, (_, index) => entry(`${index}`, at(index, index + 1)));
    expect(admit(active, entry("x", at(900, 901)))).toEqual({ admission: "too-many" });
    const ended = Array.from({ length: JOBS_KEPT }, (_, index) => entry(`${index}`, { ended: true }));
    const admission = admit([entry("first", at(500, 501)), ...ended.slice(1)], entry("x"));
    if (admission.admission !== "new") throw new Error(admission.admission);
    expect(admission.index).toHaveLength(JOBS_KEPT);
    expect(admission.index[0]?.id).toBe("first");
    expect(admission.displaced).toEqual(["1"]);
  });

  it("sees who has ended", () => {
    const index = [entry("a"), entry("b")];
    expect(withEnded(index, new Set(["c"]))).toBe(index);
    expect(withEnded(index, new Set(["b"])).map(({ ended }) => ended)).toEqual([false, true]);
  });
});

describe("a pace", () => {
  it("lets no more through than its rates, and saves up one second", () => {
    const pace = new Pace({ recordsPerSecond: 100, bytesPerSecond: 1_000 });
    expect(pace.spend({ records: 100, bytes: 0 }, 10_000)).toBe(0);
    expect(pace.spend({ records: 50, bytes: 0 }, 10_000)).toBe(500);
    expect(pace.spend({ records: 1, bytes: 1_000 }, 10_500)).toBe(1_000);
    expect(new Pace({}).spend({ records: 1e9, bytes: 1e9 }, 0)).toBe(0);
  });
});
