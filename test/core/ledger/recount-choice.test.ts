import { describe, expect, it } from "vitest";
import { type CountingLedger, EMPTY_COUNTING_LEDGER } from "../../../src/core/ledger/counting-ledger.ts";
import { chooseRows } from "../../../src/core/ledger/recount-choice.ts";

const row = (number: number, from: number, until: number) => ({ number, from, until, revision: 1, openedAtMs: 0 });

/** Begun at 100; rows 1 and 2 closed, a gap that an operator passed over, rows 3 closed and 4 open. */
const ledger: CountingLedger = {
  ...EMPTY_COUNTING_LEDGER,
  rows: [row(1, 100, 200), row(2, 200, 300), row(3, 350, 400), row(4, 400, 420)],
  nextNumber: 5,
  listed: [1, 2, 3, 4],
};
const ALL = { from: 0, until: 1_000 };
const numbers = (rows: readonly { readonly number: number }[]) => rows.map(({ number }) => number);

describe("the rows that a recount may take", () => {
  it("are closed, reached by the copy and whole in the log; what no row covers is named beside them", () => {
    const choice = chooseRows(ledger, ALL, { copy: 380, logStart: 150 });
    expect(choice.rows).toEqual([2]);
    expect(numbers(choice.gone)).toEqual([1]);
    expect(numbers(choice.behind)).toEqual([3]);
    expect(choice.uncovered).toEqual([
      { from: 0, until: 100 },
      { from: 300, until: 350 },
    ]);
  });

  it("are those that the wish touches, whole", () => {
    const choice = chooseRows(ledger, { from: 199, until: 201 }, { copy: 400, logStart: 0 });
    expect(choice).toEqual({ rows: [1, 2], gone: [], behind: [], uncovered: [] });
    expect(chooseRows(ledger, { from: 200, until: 200 }, { copy: 400, logStart: 0 }).rows).toEqual([]);
  });

  it("leave the open row and what lies beyond it to live reading", () => {
    const choice = chooseRows(ledger, { from: 400, until: 1_000 }, { copy: 420, logStart: 0 });
    expect(choice).toEqual({ rows: [], gone: [], behind: [], uncovered: [] });
  });

  it("are none that readers do not sum", () => {
    const replaced = { ...ledger, listed: [1, 3, 4] };
    expect(chooseRows(replaced, ALL, { copy: 400, logStart: 0 }).rows).toEqual([1, 3]);
  });

  it("are none in a partition that was never read: all is uncovered", () => {
    const choice = chooseRows(EMPTY_COUNTING_LEDGER, { from: 5, until: 9 }, { copy: 0, logStart: 0 });
    expect(choice).toEqual({ rows: [], gone: [], behind: [], uncovered: [{ from: 5, until: 9 }] });
  });
});
