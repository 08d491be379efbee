import { expect, it } from "vitest";
import { TransactionSize } from "../../../src/kv/embedded/transaction-size.ts";

/** Full transactions, in a store of so many pages, on a disk that takes so long per change; returns their sizes. */
function run(size: TransactionSize, count: number, msPerChange: number, pages = 1_000): readonly number[] {
  return Array.from({ length: count }, () => {
    const changes = size.changes(pages);
    size.took(changes, changes, changes * msPerChange);
    return changes;
  });
}

it("grows on a fast disk", () => {
  const sizes = [2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 131_072];
  expect(run(new TransactionSize(), 8, 0.001)).toEqual(sizes);
});

it("dirties no more pages than memory allows, however large the store is", () => {
  for (const pages of [1, 32_768, 32_769, 33_000, 60_000, 200_000, 10 ** 6, 10 ** 9]) {
    const changes = run(new TransactionSize(), 12, 0.001, pages).at(-1) ?? 0;
    expect(changes).toBeGreaterThanOrEqual(32_768);
    expect(pages * (1 - Math.exp(-changes / pages))).toBeLessThanOrEqual(32_769);
  }
});

it("comes to a transaction of less than a second on a slower disk, and back", () => {
  const size = new TransactionSize();
  for (const msPerChange of [0.1, 0.3, 0.02, 0.15, 0.05]) {
    const last = run(size, 20, msPerChange).at(-1) ?? 0;
    expect(last * msPerChange).toBeLessThanOrEqual(800);
    expect(last * msPerChange).toBeGreaterThanOrEqual(200);
  }
});

it("never becomes small, and does not grow by transactions that were not full", () => {
  const size = new TransactionSize();
  size.took(100, 2_048, 1);
  expect(size.changes(1)).toBe(2_048);
  expect(run(size, 2, 0.01)).toEqual([2_048, 4_096]);
  expect(run(size, 20, 10).at(-1)).toBe(2_048);
  size.took(0, 2_048, 10_000);
  expect(size.changes(1)).toBe(2_048);
});
