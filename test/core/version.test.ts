import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentId, documentKey, joinKey } from "../../src/core/keys.ts";
import { formatOffset, OFFSET_LIMIT, parseOffset } from "../../src/core/offset.ts";
import { originOf, versionOf } from "../../src/core/version.ts";

const origin = fc.record({
  topicEpoch: fc.integer({ min: 0, max: 1023 }),
  offset: fc.integer({ min: 0, max: OFFSET_LIMIT - 1 }),
});

describe("versions", () => {
  it("order by topic epoch, then offset, and stay safe integers below 2^50", () => {
    fc.assert(
      fc.property(origin, origin, (a, b) => {
        const byParts = a.topicEpoch - b.topicEpoch || a.offset - b.offset;
        expect(Math.sign(versionOf(a) - versionOf(b))).toBe(Math.sign(byParts));
        expect(versionOf(a)).toBeLessThanOrEqual(2 ** 50);
        expect(originOf(versionOf(a))).toEqual(a);
      }),
      { seed: 5 },
    );
  });

  it("offset 0 of epoch 0 is a version, 0 is not", () => {
    expect(versionOf({ topicEpoch: 0, offset: 0 })).toBe(1);
    expect(() => originOf(0)).toThrow(/VERSION_RANGE/);
  });

  it("an offset at 2^40 − 1 has none", () => {
    expect(() => versionOf({ topicEpoch: 0, offset: OFFSET_LIMIT })).toThrow(/VERSION_OFFSET/);
  });
});

describe("offsets at the edges", () => {
  it.each(["-1", "01", "1e3", "1.0", " 1", "", "9007199254740992", "99999999999999999999"])("refuses %j", (text) => {
    expect(parseOffset(text)).toBeUndefined();
  });

  it("reads what it writes", () => {
    expect(parseOffset(formatOffset(OFFSET_LIMIT))).toBe(OFFSET_LIMIT);
    expect(parseOffset("0")).toBe(0);
  });
});

describe("keys", () => {
  it("never collide, wherever the parts are cut", () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = a.length === b.length && a.every((part, index) => Buffer.compare(part, b[index] ?? part) === 0);
        expect(Buffer.compare(joinKey(a), joinKey(b)) === 0).toBe(same);
      }),
      { seed: 11, numRuns: 500 },
    );
    expect(documentKey("a", "bc")).not.toEqual(documentKey("ab", "c"));
  });

  it("a document id is UTF-8 of 1 to 512 bytes; different bytes never become one id", () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(documentId(bytes("ä"))).toBe("ä");
    expect(documentId(bytes("\uFEFFa"))).toBe("\uFEFFa");
    expect(documentId(bytes("x".repeat(512)))).toHaveLength(512);
    for (const bad of [null, bytes(""), bytes("x".repeat(513)), Uint8Array.of(0xff), Uint8Array.of(0xfe)]) {
      expect(documentId(bad)).toBeUndefined();
    }
  });
});
