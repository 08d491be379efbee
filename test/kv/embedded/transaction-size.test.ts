import { expect, it } from "vitest";
import { TransactionSize } from "../../../src/kv/embedded/transaction-size.ts";

/** Full transactions on a disk that takes so long per change; returns their sizes. */
function run(size: TransactionSize, count: number, msPerChange: number): readonly number[] {
  return Array.from({ length: count }, () => {
    const { changes } = size;
    size.took(changes, changes * msPerChange);
    return changes;
  });
}

it("grows to what memory allows on a fast disk", () => {
  expect(run(new TransactionSize(), 6, 0.01)).toEqual([2_048, 4_096, 8_192, 16_384, 32_768, 32_768]);
});

it("comes to a transaction of less than a second on a slower one, and back", () => {
  const size = new TransactionSize();
  for (const msPerChange of [0.1, 0.3, 0.02, 0.15, 0.05]) {
    const last = run(size, 20, msPerChange).at(-1) ?? 0;
    expect(last * msPerChange).toBeLessThanOrEqual(800);
    expect(last * msPerChange).toBeGreaterThanOrEqual(200);
  }
});

it("never becomes small, and does not grow by transactions that were not full", () => {
  const size = new TransactionSize();
  size.took(100, 1);
  expect(size.changes).toBe(2_048);
  expect(run(size, 2, 0.01)).toEqual([2_048, 4_096]);
  expect(run(size, 20, 10).at(-1)).toBe(2_048);
  size.took(0, 10_000);
  expect(size.changes).toBe(2_048);
});
