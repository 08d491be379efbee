import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DocumentCell,
  compareBytes,
  compareOrdered,
  decodeDocumentCell,
  encodeDocumentCell,
} from "../../src/core/cell.ts";

const cell: DocumentCell = {
  revision: 3,
  partition: 7,
  state: "live",
  bodyFormat: "json",
  descriptorVersion: 2,
  timestampMs: 1_700_000_000_000,
  body: new TextEncoder().encode('{"a":1}'),
};

function ordered(order: number, more: Partial<DocumentCell>) {
  return { order, bytes: encodeDocumentCell({ ...cell, ...more }) };
}

describe("cells", () => {
  it("read back as they were written", () => {
    expect(decodeDocumentCell(encodeDocumentCell(cell))).toEqual(cell);
    const tombstone: DocumentCell = {
      ...cell,
      state: "deleted",
      bodyFormat: "none",
      timestampMs: -1,
      body: new Uint8Array(0),
    };
    expect(decodeDocumentCell(encodeDocumentCell(tombstone))).toEqual(tombstone);
  });

  it("refuse foreign bytes and numbers that do not fit", () => {
    expect(() => decodeDocumentCell(new Uint8Array(5))).toThrow(/CELL_TRUNCATED/);
    expect(() => encodeDocumentCell({ ...cell, revision: 2 ** 32 })).toThrow(/CELL_FIELD/);
  });

  it("a larger version beats any revision", () => {
    expect(compareOrdered(ordered(2, { revision: 1 }), ordered(1, { revision: 9 }))).toBeGreaterThan(0);
  });

  it("at one version the larger revision wins, then the larger partition, then deleted over live (I6)", () => {
    expect(compareOrdered(ordered(1, { revision: 4, partition: 0 }), ordered(1, { revision: 3 }))).toBeGreaterThan(0);
    expect(compareOrdered(ordered(1, { partition: 8 }), ordered(1, { state: "deleted" }))).toBeGreaterThan(0);
    expect(compareOrdered(ordered(1, { state: "deleted" }), ordered(1, {}))).toBeGreaterThan(0);
  });

  it("compares bytes as Buffer does: unsigned, a prefix is smaller", () => {
    const bytes = fc.uint8Array({ maxLength: 6 });
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
      }),
      { seed: 3 },
    );
  });
});
