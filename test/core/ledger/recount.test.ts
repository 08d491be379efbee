import { describe, expect, it } from "vitest";
import { type CountingLedger, EMPTY_COUNTING_LEDGER } from "../../../src/core/ledger/counting-ledger.ts";
import { exchangeRows, planRecount, type RecountPlan } from "../../../src/core/ledger/recount.ts";

const row = (number: number, from: number, until: number, revision = 1) => ({
  number,
  from,
  until,
  revision,
  openedAtMs: 0,
});

/** Rows 1 and 2 closed, a gap that an operator passed over, row 3 open. */
const ledger: CountingLedger = {
  ...EMPTY_COUNTING_LEDGER,
  rows: [row(1, 100, 200), row(2, 200, 300), row(3, 350, 400, 2)],
  nextNumber: 4,
  listed: [1, 2, 3],
};
const order = { rows: [1, 2], copy: 380, revision: 5, nowMs: 9 };

function planned(from: CountingLedger, more: object = {}): RecountPlan {
  const plan = planRecount(from, { ...order, ...more });
  if ("refused" in plan) throw new Error(plan.refused);
  return plan;
}

describe("a recount", () => {
  it("takes whole closed rows, under the revision in force, into rows of numbers that nobody had", () => {
    const { ledger: after, ranges } = planned(ledger);
    expect(after).toEqual({ ...ledger, nextNumber: 6 });
    expect(ranges).toEqual([
      { replaces: 1, row: { ...row(4, 100, 200, 5), openedAtMs: 9 } },
      { replaces: 2, row: { ...row(5, 200, 300, 5), openedAtMs: 9 } },
    ]);
  });

  it.each([
    ["the open row", { rows: [3] }, { refused: "row-open", number: 3 }],
    ["a row that the copy has not reached", { copy: 299 }, { refused: "copy-behind", until: 300, copy: 299 }],
    ["a row that is not there", { rows: [9] }, { refused: "row-unknown", number: 9 }],
    ["nothing", { rows: [] }, { refused: "range-empty" }],
    ["an empty range", { rows: [], uncovered: { from: 5, until: 5 } }, { refused: "range-empty" }],
    [
      "a range that a row covers",
      { rows: [], uncovered: { from: 50, until: 101 } },
      { refused: "range-covered", number: 1 },
    ],
    [
      "a range above the copy",
      { rows: [], uncovered: { from: 400, until: 500 } },
      { refused: "copy-behind", until: 500, copy: 380 },
    ],
  ])("refuses %s", (_name, more, expected) => {
    expect(planRecount(ledger, { ...order, ...more })).toEqual(expected);
  });

  it("exchanges all rows in one write, keeps what they replaced, and may be told twice", () => {
    const { ledger: begun, ranges } = planned(ledger);
    const after = exchangeRows(begun, ranges);
    if ("refused" in after) throw new Error(after.refused);
    expect(after.rows.map(({ number }) => number)).toEqual([4, 5, 3]);
    expect(after.listed).toEqual([4, 5, 3]);
    expect(after.former.map(({ number, replacedBy }) => [number, replacedBy])).toEqual([
      [1, 4],
      [2, 5],
    ]);
    expect(exchangeRows(after, ranges)).toBe(after);
  });

  it("that another one overtook exchanges nothing", () => {
    const slow = planned(ledger, { rows: [1] });
    const fast = planned(slow.ledger, { rows: [1, 2] });
    const after = exchangeRows(fast.ledger, fast.ranges);
    if ("refused" in after) throw new Error(after.refused);
    expect(exchangeRows(after, slow.ranges)).toEqual({ refused: "row-unknown", number: 1 });
  });

  it("counts what no row covers into a row of its own, visible at its exchange", () => {
    for (const [from, until, numbers] of [
      [0, 100, [4, 1, 2, 3]],
      [300, 350, [1, 2, 4, 3]],
    ] as const) {
      const { ledger: begun, ranges } = planned(ledger, { rows: [], uncovered: { from, until } });
      expect(begun.listed).toEqual([1, 2, 3]);
      const after = exchangeRows(begun, ranges);
      if ("refused" in after) throw new Error(after.refused);
      expect(after.rows.map(({ number }) => number)).toEqual(numbers);
      expect(after.listed).toEqual([1, 2, 3, 4]);
      expect(exchangeRows(after, planned(ledger, { rows: [], uncovered: { from, until } }).ranges)).toBe(after);
    }
  });
});
