import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  closeOpenRow,
  type CountingLedger,
  countingRowAt,
  EMPTY_COUNTING_LEDGER,
  enter,
  giveBack,
  mustReserve,
  reserve,
} from "../../../src/core/ledger/counting-ledger.ts";

const DAY = 86_400_000;

function entered(ledger: CountingLedger, name: string, position: number, revision = 1, nowMs = 0): CountingLedger {
  const after = enter(ledger, { name, position, revision, nowMs });
  if (!("rows" in after)) throw new Error(`uncovered from ${after.from}`);
  return after;
}

function reserved(ledger: CountingLedger, name: string, next: number, more: object = {}): CountingLedger {
  const all = { name, next, end: 1_000, ahead: 0, revision: 1, nowMs: 0, segmentEveryMs: DAY, ...more };
  return reserve(ledger, all);
}

const shape = (ledger: CountingLedger) =>
  ledger.rows.map(({ number, from, until, revision }) => [number, from, until, revision]);
const first = entered(EMPTY_COUNTING_LEDGER, "a", 100);

describe("a counting ledger", () => {
  it("opens its first row where the partition starts, empty and in the name of who starts", () => {
    expect(shape(first)).toEqual([[1, 100, 100, 1]]);
    expect([first.listed, first.holder]).toEqual([[1], { name: "a", floor: 100 }]);
  });

  it("reserves what was fetched, ahead of it up to the end of the log, and never beyond", () => {
    expect(shape(reserved(first, "a", 150))).toEqual([[1, 100, 150, 1]]);
    expect(shape(reserved(first, "a", 150, { ahead: 500 }))).toEqual([[1, 100, 650, 1]]);
    expect(shape(reserved(first, "a", 150, { ahead: 5_000 }))).toEqual([[1, 100, 1_000, 1]]);
    const wide = reserved(first, "a", 150, { ahead: 500 });
    expect([mustReserve(wide, "a", 650), mustReserve(wide, "a", 651), mustReserve(wide, "b", 200)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(reserved(wide, "a", 400)).toBe(wide);
  });

  it("closes a row at its reservation when a newer revision is desired, not where it was read to", () => {
    const changed = reserved(reserved(first, "a", 200), "a", 260, { revision: 3 });
    expect(shape(changed)).toEqual([
      [1, 100, 200, 1],
      [2, 200, 260, 3],
    ]);
    expect(changed.listed).toEqual([1, 2]);
    expect([199, 200, 259, 260].map((offset) => countingRowAt(changed, offset)?.number)).toEqual([1, 2, 2, undefined]);
  });

  it("does not close for an older revision, nor before there is something to reserve", () => {
    const wide = reserved(first, "a", 200, { revision: 3 });
    expect(shape(reserved(wide, "a", 260, { revision: 2 }))).toEqual([[2, 100, 260, 3]]);
    expect(reserved(wide, "a", 150, { revision: 4 })).toBe(wide);
  });

  it("replaces an empty row when the revision changes, its number never reused", () => {
    const changed = reserved(first, "a", 120, { revision: 2 });
    expect([shape(changed), changed.listed]).toEqual([[[2, 100, 120, 2]], [2]]);
  });

  it("ends rows after segmentEvery, and lets an empty one begin anew", () => {
    const late = reserved(reserved(first, "a", 200), "a", 260, { nowMs: DAY });
    expect(shape(late)).toEqual([
      [1, 100, 200, 1],
      [2, 200, 260, 1],
    ]);
    const empty = reserved(first, "a", 200, { nowMs: DAY });
    expect([shape(empty), empty.rows[0]?.openedAtMs]).toEqual([[[1, 100, 200, 1]], DAY]);
  });

  it("refuses a start that no row covers: below the first, and where something was passed over", () => {
    expect(enter(first, { name: "b", position: 40, revision: 1, nowMs: 0 })).toEqual({ from: 40, until: 100 });
    const beyond = entered(reserved(first, "a", 200), "b", 300);
    expect(shape(beyond)).toEqual([
      [1, 100, 200, 1],
      [2, 300, 300, 1],
    ]);
    expect(enter(beyond, { name: "c", position: 250, revision: 1, nowMs: 0 })).toEqual({ from: 250, until: 300 });
    expect(entered(beyond, "c", 199).holder).toEqual({ name: "c", floor: 300 });
  });
});

describe("giving back", () => {
  const wide = reserved(first, "a", 150, { ahead: 500 });

  it("lowers the reservation to what was sent", () => {
    expect(shape(giveBack(wide, "a", 150))).toEqual([[1, 100, 150, 1]]);
    expect(giveBack(wide, "a", 700)).toBe(wide);
  });

  it("stays above the floor: what a predecessor reserved it may have counted", () => {
    const successor = entered(wide, "b", 120);
    expect(successor.holder).toEqual({ name: "b", floor: 650 });
    expect(giveBack(reserved(successor, "b", 700), "b", 130).rows.at(-1)?.until).toBe(650);
  });

  it("is refused to who is not named any more", () => {
    const successor = entered(wide, "b", 120);
    expect(giveBack(successor, "a", 150)).toBe(successor);
  });

  it("after a zombie has written its name is above what the zombie found", () => {
    const successor = reserved(entered(wide, "b", 120), "b", 700);
    const zombie = reserved(successor, "a", 720);
    expect(zombie.holder).toEqual({ name: "a", floor: 700 });
    const again = reserved(zombie, "b", 730);
    expect(giveBack(again, "b", 130).rows.at(-1)?.until).toBe(720);
  });

  it("never reaches into a row that was closed", () => {
    const turned = closeOpenRow(wide, 5);
    expect(shape(turned)).toEqual([
      [1, 100, 650, 1],
      [2, 650, 650, 1],
    ]);
    expect(turned.holder).toEqual({ name: "a", floor: 650 });
    expect(giveBack(turned, "a", 150)).toBe(turned);
    expect(closeOpenRow(turned, 6)).toBe(turned);
  });
});

describe("any history of lives", () => {
  const act = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    act: fc.constantFrom("enter", "reserve", "reserve", "give back", "close"),
    at: fc.integer({ min: 0, max: 60 }),
    ahead: fc.integer({ min: 0, max: 9 }),
    revision: fc.integer({ min: 1, max: 4 }),
  });

  it("keeps rows apart, the last open, numbers unique, and no decoded offset in two rows", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        let ledger = entered(EMPTY_COUNTING_LEDGER, "a", 0);
        const rowOf = new Map<number, number>();
        let time = 0;
        for (const { name, act: what, at, ahead, revision } of acts) {
          time += 1;
          const end = Math.max(at, ledger.rows.at(-1)?.until ?? 0);
          if (what === "enter")
            ledger = entered(ledger, name, Math.min(at, ledger.rows.at(-1)?.until ?? 0), revision, time);
          else if (what === "give back") ledger = giveBack(ledger, name, end);
          else if (what === "close") ledger = closeOpenRow(ledger, time);
          else ledger = reserved(ledger, name, at, { end, ahead, revision, nowMs: time, segmentEveryMs: 9 });
          for (const row of ledger.rows) {
            for (let offset = row.from; offset < row.until; offset += 1) {
              expect(rowOf.get(offset) ?? row.number).toBe(row.number);
              rowOf.set(offset, row.number);
            }
          }
          for (const [index, row] of ledger.rows.entries()) {
            expect(row.from).toBe(index === 0 ? 0 : ledger.rows[index - 1]?.until);
            expect(row.number).toBeLessThan(ledger.nextNumber);
          }
          expect([...ledger.listed]).toEqual(ledger.rows.map(({ number }) => number));
        }
      }),
    );
  });
});
