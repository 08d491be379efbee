import { expect, it } from "vitest";
import { InvariantViolation } from "../../../src/core/invariant.ts";
import { slotKey, slotRange, slotSuffix, trafficKey, trafficRange } from "../../../src/core/counting/keys.ts";
import {
  type CellScan,
  type CellWrite,
  KEY_BYTES_MAX,
  type KvPlane,
  type ScannedCell,
} from "../../../src/ports/kv-plane.ts";
import type { ContractOptions, OwnerFaults } from "../contract.ts";
import { freshKey, text } from "./cells.ts";

/** A range that no other test has. */
export function freshRange(): { readonly prefix: Uint8Array; readonly from: Uint8Array; readonly to: Uint8Array } {
  const name = freshKey();
  return {
    prefix: Buffer.concat([name, text("/")]),
    from: Buffer.concat([name, text("/")]),
    to: Buffer.concat([name, text("0")]),
  };
}

function slot(key: Uint8Array, order: number, bytes: string | Uint8Array = `${order}`): CellWrite {
  return { space: "slot", key, order, bytes: typeof bytes === "string" ? text(bytes) : bytes };
}

/** Reads a range page by page. */
export async function scanned(plane: KvPlane, range: Omit<CellScan, "space">): Promise<readonly ScannedCell[]> {
  const cells: ScannedCell[] = [];
  let from: Uint8Array | undefined = range.from;
  while (from !== undefined) {
    const page = await plane.scan({ ...range, space: "slot", from });
    expect(page.cells.length).toBeLessThanOrEqual(range.limit);
    if (page.next !== undefined) expect(page.cells.length).toBeGreaterThan(0);
    cells.push(...page.cells);
    from = page.next;
  }
  return cells;
}

const orders = (cells: readonly ScannedCell[]): readonly number[] => cells.map(({ order }) => order);
const OTHERS = ["document", "dial", "copy"] as const;
const LIMITS = [1, 2, 3, 7, 1_000];

/** Ranges of cells. */
export function describeRanges(plane: () => KvPlane, options: ContractOptions): void {
  it("reads a range in the order of its keys, whatever their bytes, in pages of any size", async () => {
    const { prefix, from, to } = freshRange();
    const longest = new Uint8Array(KEY_BYTES_MAX - prefix.length).fill(0xff);
    const rests = [[], [0], [0, 0], [0, 1], [1], [0x7f], [0x80], [0xff], [0xff, 0], [0xff, 0xff], longest];
    const keys = rests.map((rest) => Uint8Array.of(...prefix, ...rest));
    await plane().write(keys.map((key, index) => slot(key, index + 1)).toReversed());
    for (const limit of LIMITS) {
      const cells = await scanned(plane(), { from, to, limit });
      expect(cells).toEqual(keys.map((key, index) => ({ key, order: index + 1, bytes: text(`${index + 1}`) })));
    }
  });

  it("reads from the first key inclusive to the last exclusive, and of one space", async () => {
    const { prefix, from, to } = freshRange();
    const key = (last: number): Uint8Array => Uint8Array.of(...prefix, last);
    await plane().write([1, 2, 3, 4].map((last) => slot(key(last), last)));
    await plane().write(OTHERS.map((space) => ({ ...slot(key(9), 9), space })));
    await plane().write([slot(to, 7), slot(prefix.subarray(0, -1), 8)]);
    const between = (first: number, end: number): Promise<readonly ScannedCell[]> =>
      scanned(plane(), { from: key(first), to: key(end), limit: 2 });
    expect(orders(await scanned(plane(), { from, to, limit: 3 }))).toEqual([1, 2, 3, 4]);
    expect(orders(await between(2, 4))).toEqual([2, 3]);
    expect(orders(await between(0, 1))).toEqual([]);
    expect(orders(await between(2, 2))).toEqual([]);
    expect(orders(await between(4, 1))).toEqual([]);
  });

  it("reads to the end of a space, and not beyond", async () => {
    const last = new Uint8Array(KEY_BYTES_MAX).fill(0xff);
    const from = last.slice(0, -1);
    await plane().write([slot(last, 3), slot(from, 2), { ...slot(new Uint8Array(0), 1), space: "copy" }]);
    const to = new Uint8Array(KEY_BYTES_MAX + 1).fill(0xff);
    for (const limit of LIMITS) expect(orders(await scanned(plane(), { from, to, limit }))).toEqual([2, 3]);
    expect(orders(await scanned(plane(), { from, to: last, limit: 1 }))).toEqual([2]);
  });

  it("answers nothing for a range where nothing is", async () => {
    const { from, to } = freshRange();
    expect(await plane().scan({ space: "slot", from, to, limit: 10 })).toEqual({ cells: [], next: undefined });
    expect(await plane().scan({ space: "slot", from: to, to: from, limit: 10 })).toEqual({
      cells: [],
      next: undefined,
    });
  });

  it("reads the slots of one counter, and the counters of a span of time", async () => {
    const article = Buffer.from(freshKey()).toString();
    const suffixes = ["beacons", "beacons2"].map((source) => slotSuffix({ source, partition: 1, log: 1, row: 1 }));
    const counterAt = (ms: number): Uint8Array => trafficKey("n", article, "views", ms);
    const keys = [0, 3_600_000, 7_200_000].flatMap((ms) => suffixes.map((suffix) => slotKey(counterAt(ms), suffix)));
    await plane().write(keys.map((key, index) => slot(key, index + 1)));
    expect(orders(await scanned(plane(), { ...slotRange(counterAt(3_600_000)), limit: 1 }))).toEqual([3, 4]);
    const span = trafficRange("n", article, "views", 3_600_000, 7_200_001);
    expect(orders(await scanned(plane(), { ...span, limit: 3 }))).toEqual([3, 4, 5, 6]);
  });

  it("bounds the bytes of a page, and answers a cell that is larger than that", async () => {
    const { prefix, from, to } = freshRange();
    const body = new Uint8Array(Math.min(options.valueBytesMax, 1024 * 1024)).fill(7);
    await plane().write(
      Array.from({ length: 8 }, (_, index) => slot(Uint8Array.of(...prefix, index), index + 1, body)),
    );
    const page = await plane().scan({ space: "slot", from, to, limit: 1_000 });
    expect(page.cells.length).toBeLessThan(8);
    const cells = await scanned(plane(), { from, to, limit: 1_000 });
    expect(orders(cells)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const { bytes } of cells) expect(Buffer.compare(bytes, body)).toBe(0);
  });

  it("refuses a bound that is too long, and a page of nothing", async () => {
    const { from, to } = freshRange();
    const long = new Uint8Array(KEY_BYTES_MAX + 2);
    for (const bad of [
      { limit: 0 },
      { limit: -1 },
      { limit: 1.5 },
      { limit: Number.NaN },
      { from: long },
      { to: long },
    ]) {
      await expect(plane().scan({ space: "slot", from, to, limit: 1, ...bad })).rejects.toBeInstanceOf(
        InvariantViolation,
      );
    }
  });
}

/** Ranges where owners differ. */
export function describeScannedLosses(plane: () => KvPlane, owners: () => OwnerFaults, options: ContractOptions): void {
  const survives = options.writeAcks === 2;

  it("scans every cell that W owners hold, though each owner lacks others and pages end elsewhere", async () => {
    if (!survives) return;
    const { prefix, from, to } = freshRange();
    const keys = Array.from({ length: options.thorough ? 12 : 4 }, (_, index) => Uint8Array.of(...prefix, index));
    // Several of these fill a page, so that owners that lack some reach further.
    const bytes = new Uint8Array(Math.min(options.valueBytesMax, 200_000)).fill(1);
    await plane().write(keys.filter((_, index) => index % 4 === 0).map((key) => slot(key, 1, "old")));
    for (const [index, key] of keys.entries()) {
      await owners().without(owners().names[index % 3] ?? "", () => plane().write([slot(key, 2, bytes)]));
    }
    for (const limit of LIMITS) {
      const cells = await scanned(plane(), { from, to, limit });
      expect(cells.map(({ key, order }) => [key.at(-1), order])).toEqual(keys.map((_, index) => [index, 2]));
    }
  });

  it("writes back what one owner alone has, before a scan answers it", async () => {
    const { prefix, from, to } = freshRange();
    const [changed, fresh] = [Uint8Array.of(...prefix, 1), Uint8Array.of(...prefix, 2)];
    await plane().write([slot(changed, 1)]);
    const [a] = owners().names;
    await owners().strand(a, () => plane().write([slot(changed, 2), slot(fresh, 2)]));
    const found = await scanned(plane(), { from, to, limit: 1 });
    for (const { key, order } of found) {
      const answers = await plane().inspect({ space: "slot", key });
      expect(answers.filter((one) => one.cell?.order === order).length).toBeGreaterThanOrEqual(options.writeAcks);
    }
    if (!survives) return;
    await owners().lose(a);
    // What was answered stays; what was not may be met by neither.
    const later = await scanned(plane(), { from, to, limit: 10 });
    for (const { key, order } of found)
      expect(later.find((one) => Buffer.compare(one.key, key) === 0)?.order).toBe(order);
    await owners().restore(a);
  });
}
