import { expect, it } from "vitest";
import { InvariantViolation } from "../../../src/core/invariant.ts";
import { KEY_BYTES_MAX, type KvPlane } from "../../../src/ports/kv-plane.ts";
import type { ContractOptions } from "../contract.ts";
import { cell, freshKey, held, text } from "./cells.ts";

/** Batches of every size. */
export function describeBatches(plane: () => KvPlane, options: ContractOptions): void {
  it("takes a batch that names one key several times, in any order", async () => {
    const key = freshKey();
    await plane().write([cell(key, 2, "two"), cell(key, 3, "three"), cell(key, 1, "one"), cell(key, 3, "a")]);
    expect(await plane().restore([cell(key, 0, ""), cell(key, 0, "")])).toEqual([
      { order: 3, bytes: text("three") },
      { order: 3, bytes: text("three") },
    ]);
  });

  it("takes an empty batch", async () => {
    expect((await plane().write([])).count).toBeGreaterThanOrEqual(2);
    expect(await plane().writeWithReceipts([])).toEqual([]);
    expect(await plane().restore([])).toEqual([]);
  });

  it("holds the largest body", async () => {
    const key = freshKey();
    const body = new Uint8Array(options.valueBytesMax).fill(0xab);
    await plane().write([cell(key, 1, body)]);
    const [restored] = await plane().restore([cell(key, 0, "")]);
    expect(Buffer.compare(restored?.bytes ?? new Uint8Array(0), body)).toBe(0);
  });

  it("refuses a larger body, a longer key and an odd order before anybody is asked", async () => {
    const key = freshKey();
    const tooLarge = cell(key, 1, new Uint8Array(options.valueBytesMax + 1));
    const tooLong = cell(new Uint8Array(KEY_BYTES_MAX + 1), 1, "x");
    for (const bad of [tooLarge, tooLong, cell(key, -1, "x"), cell(key, 1.5, "x"), cell(key, 2 ** 53, "x")]) {
      await expect(plane().write([cell(key, 1, "x"), bad])).rejects.toBeInstanceOf(InvariantViolation);
      await expect(plane().writeWithReceipts([bad])).rejects.toBeInstanceOf(InvariantViolation);
    }
    await expect(plane().restore([tooLong])).rejects.toBeInstanceOf(InvariantViolation);
    expect(await plane().restore([{ space: "document", key }])).toEqual([undefined]);
  });

  it("writes and restores a large batch, by index", async () => {
    const keys = Array.from({ length: Math.min(20_000, options.manyCells) }, freshKey);
    await plane().write(keys.map((key, index) => cell(key, index + 1, `value ${index}`)));
    const asked = keys.flatMap((key, index) => (index % 10 === 0 ? [key, freshKey()] : [key])).toReversed();
    const restored = await plane().restore(asked.map((key) => ({ space: "document", key })));
    const orders = new Map(keys.map((key, index) => [key, index + 1]));
    expect(restored.map((answer) => answer?.order)).toEqual(asked.map((key) => orders.get(key)));
  });

  it("names W owners or counts them", async () => {
    const { count, owners } = await plane().write([cell(freshKey(), 1, "x")]);
    expect(count).toBeGreaterThanOrEqual(2);
    expect(owners.length === 0 || owners.length === count).toBe(true);
    expect(new Set(owners).size).toBe(owners.length);
  });

  it("merges concurrent writes of one key to the largest", async () => {
    const key = freshKey();
    await Promise.all(Array.from({ length: 30 }, (_, index) => plane().write([cell(key, (index * 7) % 30, "x")])));
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 29, bytes: text("x") }]);
  });

  it("takes one key thousands of times in a batch, and several largest bodies at once", async () => {
    const key = freshKey();
    const order = (index: number): number => (index * 7_919) % 5_000;
    await plane().write(Array.from({ length: 5_000 }, (_, index) => cell(key, order(index), `${order(index)}`)));
    expect(await held(plane(), key)).toEqual({ order: 4_999, bytes: text("4999") });
    const receipts = await plane().writeWithReceipts(
      Array.from({ length: 50 }, (_, index) => cell(key, 5_000 + order(index), "x")),
    );
    expect(receipts.at(-1)?.storedOrder).toBe(
      Math.max(...Array.from({ length: 50 }, (_, index) => 5_000 + order(index))),
    );
    const large = Array.from({ length: 3 }, (_, index) => new Uint8Array(options.valueBytesMax).fill(index + 1));
    const keys = large.map(freshKey);
    await plane().write(large.map((bytes, index) => cell(keys[index] ?? key, 1, bytes)));
    const restored = await plane().restore(keys.map((one) => ({ space: "document", key: one })));
    expect(restored.map((one) => [one?.bytes.length, one?.bytes[0], one?.bytes.at(-1)])).toEqual(
      large.map((bytes, index) => [bytes.length, index + 1, index + 1]),
    );
  });

  it("answers with bytes of their own: changing one changes nothing else", async () => {
    const key = freshKey();
    const bytes = text("mine");
    const writing = plane().write([cell(key, 1, bytes)]);
    await writing;
    bytes.fill(0);
    const [first, second] = await plane().restore([cell(key, 0, ""), cell(key, 0, "")]);
    first?.bytes.fill(0);
    expect(second?.bytes).toEqual(text("mine"));
    expect((await held(plane(), key))?.bytes).toEqual(text("mine"));
  });

  it("needs little memory beside a large batch", async () => {
    const batch = Array.from({ length: options.manyCells }, (_, index) => cell(freshKey(), 1, `${index}`.padEnd(100)));
    const before = used();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, used())), 5);
    await plane().write(batch);
    const receipts = await plane().writeWithReceipts(batch);
    clearInterval(watch);
    expect(receipts.every(({ outcome }) => outcome === "already-applied")).toBe(true);
    expect((most - before) / 1024 / 1024).toBeLessThan(64 + (options.manyCells * 4) / 1_024);
  });
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
