import { describe, expect, it } from "vitest";
import { enterLetters, enterRanges, type Gap, type LetterMark } from "../../../src/core/gaps/gap.ts";

const HOUR = 3_600_000;
const marks = (offsets: readonly number[], code = "DECODE_X"): LetterMark[] =>
  offsets.map((offset) => ({ offset, code }));
const range = (more: Partial<Gap>): Gap => ({
  topicEpoch: 0,
  from: 10,
  to: 20,
  cause: "skipped",
  actor: "script",
  reason: "why",
  at: 1,
  lastAt: 1,
  records: null,
  codes: [],
  audit: "0-1",
  ...more,
});

describe("dead letters in the gap ledger", () => {
  it("of many batches are one entry that grows: a storm of poison keeps the record small", () => {
    let entries: readonly Gap[] = [];
    for (let batch = 0; batch < 500; batch += 1)
      entries = enterLetters(entries, 0, marks([batch * 10, batch * 10 + 3]), 5);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      from: 0,
      to: 4_994,
      records: 1_000,
      codes: [{ code: "DECODE_X", records: 1_000 }],
    });
  });

  it("that are met again after a crash are not counted again", () => {
    const once = enterLetters([], 0, marks([150]), 1);
    expect(enterLetters(once, 0, marks([150]), 2)).toBe(once);
    expect(enterLetters(once, 0, marks([150, 240]), 2)[0]).toMatchObject({ from: 150, to: 241, records: 2 });
  });

  it("of another topic epoch, behind a range that was passed over, or an hour later begin a new entry", () => {
    const once = enterLetters([], 0, marks([150]), 1);
    expect(enterLetters(once, 1, marks([160]), 2)).toHaveLength(2);
    expect(enterLetters([...once, range({ from: 160, to: 300 })], 0, marks([310]), 2)).toHaveLength(3);
    expect(enterLetters(once, 0, marks([160]), 1 + HOUR)).toHaveLength(2);
  });

  it("below an entry (an operator went back) do not grow over it", () => {
    const later = enterLetters([], 0, marks([500, 600]), 1);
    const back = enterLetters(later, 0, marks([100]), 2);
    expect(
      enterLetters(back, 0, marks([200, 550, 700]), 3).map(({ from, to, records }) => [from, to, records]),
    ).toEqual([
      [500, 601, 2],
      [100, 101, 1],
      [200, 701, 2],
    ]);
  });

  it("of many codes are counted apart up to a limit", () => {
    const many = Array.from({ length: 40 }, (_unused, offset) => ({ offset, code: `CODE_${offset}` }));
    const [entry] = enterLetters([], 0, many, 1);
    expect(entry?.codes).toHaveLength(17);
    expect(entry?.codes.at(-1)).toEqual({ code: "OTHER", records: 24 });
  });
});

describe("ranges that a call passed over", () => {
  it("are entered once, however often the call's end is repeated", () => {
    const once = enterRanges([], [range({}), range({ cause: "lost", from: 5, to: 10 })]);
    expect(once).toHaveLength(2);
    expect(enterRanges(once, [range({ at: 9 })])).toBe(once);
    expect(enterRanges(once, [range({ audit: "0-2" })])).toHaveLength(3);
  });
});
