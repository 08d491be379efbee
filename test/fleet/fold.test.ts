import { describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import { EMPTY_LEDGER, coverFrom } from "../../src/core/ledger/ledger.ts";
import { PoisonBreaker } from "../../src/core/partition/breaker.ts";
import { fingerprintOf, foldBatch, recognise } from "../../src/fleet/fold.ts";
import { MemoryBudget } from "../../src/fleet/memory-budget.ts";
import { batchOf, type FakeRecord } from "../support/fake-log.ts";
import { definition, stubCompiler } from "../support/fleet-world.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function record(offset: number, key: string, value: string | null, timestampMs = 5): FakeRecord {
  return { offset, timestampMs, key: bytes(key), value: value === null ? null : bytes(value) };
}

function batch(records: readonly FakeRecord[]) {
  const next = (records.at(-1)?.offset ?? -1) + 1;
  return batchOf(records, { partition: 3, assignmentEpoch: 1, fetchedAt: 0, next, end: next, logStart: 0 });
}

function fold(records: readonly FakeRecord[], from: number) {
  const kind = kinds.get("documents");
  if (kind === undefined || kind.counting) throw new Error("documents is a versioned kind");
  const decoder = stubCompiler.compile({ format: "raw", framing: "none", inputs: [], mapping: {}, body: "json" });
  return foldBatch(batch(records), from, {
    topicEpoch: 0,
    ledger: coverFrom(EMPTY_LEDGER, 0, 0, 1),
    verdictOf: (revision) => ({ counting: false, revision, definition, kind, decoder }),
    nowMs: 9,
    allowPoisonTo: 0,
    breaker: new PoisonBreaker({ run: 100, sharePercent: 100, window: 1_000 }),
  });
}

describe("folding a batch", () => {
  it("looks at nothing below where it is told to begin, poison included", () => {
    const folded = fold([record(1, "a", "1"), record(2, "b", "bad"), record(3, "c", "1")], 3);
    expect([folded.writes.length, folded.letters.length, folded.records]).toEqual([1, 0, 1]);
  });

  it("keeps the newest write of each key and the fingerprint of the last record", () => {
    const records = [record(1, "a", "1"), record(2, "a", "2"), record(4, "a", null)];
    const folded = fold(records, 0);
    expect(folded.writes.map((write) => write.order)).toEqual([5]);
    expect(folded.superseded).toBe(2);
    expect(folded.fingerprint).toEqual(fingerprintOf(batch(records), 2));
  });

  it("offsets that do not ascend break an invariant of ours", () => {
    expect(() => fold([record(2, "a", "1"), record(2, "a", "2")], 0)).toThrow(/BATCH_OFFSETS/);
  });
});

describe("recognising a record", () => {
  const wanted = fingerprintOf(batch([record(7, "a", "1")]), 0);

  it.each([
    ["the same record", [record(7, "a", "1")], "equal"],
    ["another value", [record(7, "a", "2")], "different"],
    ["another key", [record(7, "b", "1")], "different"],
    ["another time", [record(7, "a", "1", 6)], "different"],
    ["null is not empty", [record(7, "a", null)], "different"],
    ["it is gone, and later ones are there", [record(9, "a", "1")], "absent"],
    ["it is gone, and the batch went past it", [record(8, "x", "1")], "absent"],
    ["the batch does not reach it", [record(2, "a", "1")], undefined],
  ] as const)("%s", (_name, records, expected) => {
    expect(recognise(batch(records), wanted)).toBe(expected);
  });

  it("key and value are told apart wherever the bytes are cut", () => {
    const one = fingerprintOf(batch([record(7, "ab", "c")]), 0);
    const other = fingerprintOf(batch([record(7, "a", "bc")]), 0);
    expect(one.hash).not.toBe(other.hash);
  });
});

describe("the memory budget", () => {
  it("crowds a source only when the whole is used and it is above its floor", () => {
    const budget = new MemoryBudget(100, 10);
    budget.hold("big", 95);
    expect(budget.crowded("big")).toBe(false);
    budget.hold("small", 5);
    expect([budget.crowded("big"), budget.crowded("small")]).toEqual([true, false]);
    budget.release("big", 95);
    expect([budget.crowded("big"), budget.usedBytes]).toEqual([false, 5]);
  });
});
