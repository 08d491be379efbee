import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coverFrom, EMPTY_LEDGER, type Ledger, rowAt } from "../../../src/core/ledger/ledger.ts";

const first = coverFrom(EMPTY_LEDGER, 100, 0, 1);

describe("the ledger", () => {
  it("opens its first row where the partition starts", () => {
    expect(first.rows).toEqual([{ number: 1, from: 100, until: null, revision: 1 }]);
  });

  it("changes nothing while the revision stays", () => {
    expect(coverFrom(first, 250, 250, 1)).toBe(first);
  });

  it("a new revision takes effect at what is not yet applied", () => {
    const changed = coverFrom(first, 150, 180, 2);
    expect(changed.rows.map((row) => [row.from, row.until, row.revision])).toEqual([
      [100, 180, 1],
      [180, null, 2],
    ]);
    expect(rowAt(changed, 179)?.revision).toBe(1);
    expect(rowAt(changed, 180)?.revision).toBe(2);
  });

  it("a row under which nothing was read is replaced, its number never reused", () => {
    const changed = coverFrom(first, 100, 100, 2);
    expect(changed.rows).toEqual([{ number: 2, from: 100, until: null, revision: 2 }]);
  });

  it("ground below the first row gets a row of its own", () => {
    const covered = coverFrom(first, 40, 0, 3);
    expect(covered.rows.map((row) => [row.from, row.until, row.revision])).toEqual([
      [40, 100, 3],
      [100, null, 3],
    ]);
  });

  it("any history of starts covers every offset from the lowest start on, once, with increasing numbers", () => {
    const start = fc.record({
      position: fc.integer({ min: 0, max: 50 }),
      applied: fc.integer({ min: 0, max: 50 }),
      revision: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(start, { minLength: 1, maxLength: 12 }), (starts) => {
        let ledger: Ledger = EMPTY_LEDGER;
        let low = Infinity;
        for (const { position, applied, revision } of starts) {
          ledger = coverFrom(ledger, position, applied, revision);
          low = Math.min(low, ledger.rows[0]?.from ?? Infinity, position);
        }
        expect(ledger.rows[0]?.from).toBe(low);
        ledger.rows.forEach((row, index) => {
          const next = ledger.rows[index + 1];
          expect(row.until).toBe(next === undefined ? null : next.from);
          expect(row.number).toBeLessThan(ledger.nextNumber);
        });
        expect(new Set(ledger.rows.map((row) => row.number)).size).toBe(ledger.rows.length);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});
