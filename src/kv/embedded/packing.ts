import { CELL_OVERHEAD_BYTES } from "../../core/cell.ts";
import { invariant } from "../../core/invariant.ts";
import type { Steps } from "../../core/steps.ts";
import { type CellScan, KEY_BYTES_MAX } from "../../ports/kv-plane.ts";
import { CHUNK_BYTES, type ChunkPool } from "./chunk-pool.ts";
import { nextTurn } from "./turns.ts";
import { type Packed, type StoreAddress, type StoreWrite, entryBytes, packCells } from "./wire.ts";

/** Bytes packed before other work of the main thread gets a turn. */
const BYTES_PER_TURN = CHUNK_BYTES;
/** Cells measured before that. */
const CELLS_PER_TURN = 16_384;

/** @throws InvariantViolation when the key is longer than {@link KEY_BYTES_MAX}. */
export function checkAddress({ key }: StoreAddress): void {
  invariant(key.length <= KEY_BYTES_MAX, "KV_KEY_TOO_LONG", `${key.length} bytes, at most ${KEY_BYTES_MAX}`);
}

/** @throws InvariantViolation when a bound is longer than what follows the longest key, or the limit is no positive integer */
export function checkScan({ from, to, limit }: CellScan): void {
  for (const { length } of [from, to]) {
    invariant(length <= KEY_BYTES_MAX + 1, "KV_KEY_TOO_LONG", `${length} bytes, at most ${KEY_BYTES_MAX + 1}`);
  }
  invariant(Number.isSafeInteger(limit) && limit > 0, "KV_SCAN_LIMIT", `a page of ${limit} cells`);
}

/**
 * Checks a batch and tells how many bytes it takes packed. A cell may have `bodyBytesMax` and its own header.
 * @throws InvariantViolation when a key or value is too long or an order is not a safe integer.
 */
export function* measure(batch: readonly StoreWrite[], bodyBytesMax: number): Steps<number> {
  const valueMax = bodyBytesMax + CELL_OVERHEAD_BYTES;
  let total = 0;
  for (const [index, cell] of batch.entries()) {
    if (index > 0 && index % CELLS_PER_TURN === 0) yield undefined;
    checkAddress(cell);
    const { order, bytes } = cell;
    invariant(bytes.length <= valueMax, "KV_VALUE_TOO_LARGE", `${bytes.length} bytes, at most ${valueMax}`);
    invariant(Number.isSafeInteger(order) && order >= 0, "KV_ORDER", `order ${order}`);
    total += entryBytes(cell);
  }
  return total;
}

/** Packs a measured batch of `bytes` into chunks, and lets other work of the thread run in between. */
export async function packBatch(batch: readonly StoreWrite[], bytes: number, pool: ChunkPool): Promise<Packed[]> {
  const chunks: Packed[] = [];
  let from = 0;
  let left = bytes;
  let packed = 0;
  while (from < batch.length) {
    if (packed >= BYTES_PER_TURN) {
      await nextTurn();
      packed = 0;
    }
    const first = batch[from];
    const needed = Math.max(Math.min(left, CHUNK_BYTES), first === undefined ? 0 : entryBytes(first));
    const buffer = pool.take(needed);
    const { next, length } = packCells(batch, from, new Uint8Array(buffer, 0, needed));
    chunks.push({ buffer, length });
    from = next;
    left -= length;
    packed += length;
  }
  return chunks;
}
