import { expect, it } from "vitest";
import type { KvPlane } from "../../../src/ports/kv-plane.ts";
import { cell, freshKey, text } from "./cells.ts";

/** What a job is told of its batch. */
export function describeReceipts(plane: () => KvPlane): void {
  it("tells applied, already applied and superseded apart, within the batch as well", async () => {
    const [held, fresh] = [freshKey(), freshKey()];
    await plane().write([cell(held, 5, "five")]);
    const receipts = await plane().writeWithReceipts([
      cell(held, 5, "five"),
      cell(held, 5, "a"),
      cell(held, 4, "four"),
      cell(fresh, 1, "one"),
      cell(fresh, 1, "one"),
      cell(held, 6, "six"),
      cell(held, 5, "five"),
      cell(fresh, 2, "two"),
    ]);
    expect(receipts).toEqual([
      { outcome: "already-applied", storedOrder: 5 },
      { outcome: "superseded", storedOrder: 5 },
      { outcome: "superseded", storedOrder: 5 },
      { outcome: "applied", storedOrder: 1 },
      { outcome: "already-applied", storedOrder: 1 },
      { outcome: "applied", storedOrder: 6 },
      { outcome: "superseded", storedOrder: 6 },
      { outcome: "applied", storedOrder: 2 },
    ]);
    expect(await plane().restore([cell(held, 0, ""), cell(fresh, 0, "")])).toEqual([
      { order: 6, bytes: text("six") },
      { order: 2, bytes: text("two") },
    ]);
  });
}
