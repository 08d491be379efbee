import { describe, expect, it } from "vitest";
import { letterRecord, readLetter } from "../../../consumers/kafka/dead-letters/letter.ts";
import type { DeadLetter } from "../../../src/ports/dead-letters.ts";
import type { RecordHeader } from "../../../src/ports/record-batch.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const own: readonly RecordHeader[] = [
  { name: bytes("trace"), value: bytes("1") },
  { name: Uint8Array.of(0xff), value: null },
  { name: bytes("trace"), value: bytes("2") },
];

function letter(change: Partial<DeadLetter> = {}): DeadLetter {
  return {
    source: "articles",
    topic: "articles",
    topicEpoch: 0,
    partition: 0,
    offset: 7,
    timestampMs: 1_000,
    key: bytes("key"),
    value: bytes("value"),
    headers: own,
    fault: { code: "DECODE_TEST", text: "poison" },
    descriptorVersion: 1,
    revision: 3,
    attempt: 1,
    firstSeenMs: 2_000,
    ...change,
  };
}

const sizeOf = (headers: readonly RecordHeader[]): number =>
  headers.reduce((sum, { name, value }) => sum + name.length + (value?.length ?? 0), 0);

describe("the headers of letters", () => {
  it("do not grow over fifty rounds of letters that are put back on the topic and fail again", () => {
    let headers: readonly RecordHeader[] = own;
    const sizes: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      // Each time a new record, with the headers of the letter before.
      const record = letterRecord(letter({ headers, offset: 100 + round }), "whole", 5_000);
      sizes.push(sizeOf(record.headers));
      headers = record.headers;
    }
    expect(new Set(sizes).size).toBe(1);
    expect(readLetter(headers)).toMatchObject({ offset: 149, headers: own, omitted: {} });
  });

  it("do not grow over fifty failing attempts, either; text is cut at a character", () => {
    let last = letter({ fault: { code: "DECODE_TEST", text: "ä".repeat(999) } });
    const sizes = new Set<number>();
    for (let attempt = 10; attempt < 60; attempt += 1) {
      const { headers } = letterRecord({ ...last, attempt }, "whole", 5_000);
      sizes.add(sizeOf(headers));
      const read = readLetter(headers);
      expect(read).toMatchObject({ attempt, firstSeenMs: 2_000, headers: own });
      expect(read?.fault.text).toBe("ä".repeat(256));
      last = { ...last, ...read };
    }
    expect(sizes.size).toBe(1);
  });

  it("leave headers alone that only look like ours", () => {
    const looking = [...own, { name: bytes("ysearch.source"), value: bytes("x") }, { name: bytes("z"), value: null }];
    const { headers } = letterRecord(letter({ headers: looking }), "whole", 0);
    expect(readLetter(headers)?.headers).toEqual(looking);
    const behind = [...letterRecord(letter(), "whole", 0).headers, { name: bytes("behind"), value: bytes("1") }];
    expect(readLetter(behind), "somebody added a header").toBeUndefined();
    expect(readLetter(letterRecord(letter({ headers: behind }), "whole", 0).headers)?.headers).toEqual(behind);
  });

  it("say what was left out, and how it is recognised", () => {
    const cut = readLetter(letterRecord(letter(), "without-value", 0).headers);
    expect(cut?.omitted).toEqual({
      value: { bytes: 5, sha256: "cd42404d52ad55ccfa9aca4adc828aa5800ad9d385a0671fbcbf724118320619" },
    });
    const bare = letterRecord(letter(), "coordinates-only", 0);
    expect(bare).toMatchObject({ key: null, value: null });
    expect(readLetter(bare.headers)).toMatchObject({ headers: [], omitted: { headers: 3, key: { bytes: 3 } } });
    const tombstone = readLetter(letterRecord(letter({ value: null, key: null }), "without-value", 0).headers);
    expect(tombstone?.omitted, "a null value was not left out").toEqual({});
  });

  it.each([
    ["offset", "1099511627775"],
    ["offset", "-1"],
    ["offset", "0x10"],
    ["topic-epoch", "1024"],
    ["partition", "-1"],
    ["attempt", "0"],
    ["revision", "1e3"],
    ["first-seen", "9007199254740993"],
  ])("of a foreign record are none: %s %s", (name, value) => {
    const headers = letterRecord(letter(), "whole", 0).headers.map((entry) =>
      Buffer.from(entry.name).toString() === `ysearch.${name}` ? { ...entry, value: bytes(value) } : entry,
    );
    expect(readLetter(headers)).toBeUndefined();
  });
});
