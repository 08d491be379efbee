import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OrderedBytes, compareOrdered } from "../../src/core/cell.ts";
import { planReceipts } from "../../src/kv/receipts.ts";
import type { CellWrite } from "../../src/ports/kv-plane.ts";

const cellOf = (key: number, order: number, byte: number): CellWrite => ({
  space: "document",
  key: Uint8Array.of(key),
  order,
  bytes: Uint8Array.of(byte),
});
const identify = ({ key }: CellWrite): string => Buffer.from(key).toString("hex");

describe("receipts", () => {
  it("say what writing the cells one after another would have done, and name the cells that need writing", () => {
    const change = fc.tuple(fc.nat(2), fc.nat(3), fc.nat(2));
    fc.assert(
      fc.property(fc.array(change), fc.array(change), (before, changes) => {
        const stored = new Map<string, OrderedBytes>();
        const put = (cell: CellWrite): void => {
          const present = stored.get(identify(cell));
          if (present === undefined || compareOrdered(cell, present) > 0) stored.set(identify(cell), cell);
        };
        for (const [key, order, byte] of before) put(cellOf(key, order, byte));
        const batch = changes.map(([key, order, byte]) => cellOf(key, order, byte));
        const held = batch.map((cell) => stored.get(identify(cell)));
        const { receipts, writes } = planReceipts(batch, held, identify);
        const expected: CellWrite[] = [];
        for (const [index, cell] of batch.entries()) {
          const present = stored.get(identify(cell));
          const difference = present === undefined ? 1 : compareOrdered(cell, present);
          put(cell);
          if (difference > 0) expected.push(cell);
          const outcome = difference > 0 ? "applied" : difference === 0 ? "already-applied" : "superseded";
          expect(receipts[index]).toEqual({ outcome, storedOrder: stored.get(identify(cell))?.order });
        }
        expect(writes).toEqual(expected);
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});
