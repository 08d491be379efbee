import { describe, expect, it } from "vitest";
import { OriginTable, type Standing } from "../../src/letters/origin-table.ts";
import { seeded } from "../support/seeded.ts";

describe("the table of origins", () => {
  it("agrees with a map over many letters, whatever their order", () => {
    const below = seeded(7);
    const table = new OriginTable(100_000);
    const expected = new Map<string, Standing>();
    for (let index = 0; index < 20_000; index += 1) {
      const letter: Standing = {
        partition: below(3) * 1_000_003,
        topicEpoch: below(4) * 341,
        offset: below(2_000) * (below(2) === 0 ? 1 : 400_000_000),
        attempt: 1 + below(3),
        place: { partition: below(2), offset: index },
      };
      expect(table.note(letter)).toBe(true);
      const name = `${letter.partition}/${letter.topicEpoch}/${letter.offset}`;
      const known = expected.get(name);
      if (known === undefined || letter.attempt >= known.attempt) expected.set(name, letter);
    }
    const nameOf = ({ partition, topicEpoch, offset }: Standing) => `${partition}/${topicEpoch}/${offset}`;
    expect(table.size).toBe(expected.size);
    expect(new Map([...table.entries()].map((entry) => [nameOf(entry), entry]))).toEqual(expected);
    for (const entry of expected.values()) {
      expect(table.stands(entry)).toBe(true);
      expect(table.stands({ ...entry, place: { ...entry.place, offset: entry.place.offset + 1 } })).toBe(false);
    }
  });

  it("says when it is full, and still takes higher attempts of what it knows", () => {
    const table = new OriginTable(2);
    const at = (offset: number, attempt: number, place: number): Standing => ({
      partition: 0,
      topicEpoch: 0,
      offset,
      attempt,
      place: { partition: 0, offset: place },
    });
    expect([
      table.note(at(1, 1, 0)),
      table.note(at(2, 1, 1)),
      table.note(at(3, 1, 2)),
      table.note(at(1, 2, 3)),
    ]).toEqual([true, true, false, true]);
    expect(table.stands(at(1, 2, 3))).toBe(true);
    expect(table.stands(at(9, 1, 0))).toBe(false);
  });
});
