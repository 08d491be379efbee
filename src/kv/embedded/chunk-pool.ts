import type { Packed } from "./wire.ts";

/** Size of a pooled buffer. */
export const CHUNK_BYTES = 1024 * 1024;

/** Free buffers kept at most. */
const FREE_MAX = 32;

/**
 * Buffers that travel to the owners' threads and back. Being handed back and used again they make no garbage, which would
 * pile up where there is little else to collect. They are transferred, never shared: lmdb reads a SharedArrayBuffer's
 * bytes from a wrong address, silently.
 */
export class ChunkPool {
  readonly #free: ArrayBuffer[] = [];

  /** A buffer of at least `bytes`; what it holds is arbitrary. Small ones and oversized ones are not pooled. */
  take(bytes: number): ArrayBuffer {
    if (bytes <= CHUNK_BYTES / 4 || bytes > CHUNK_BYTES) return new ArrayBuffer(bytes);
    return this.#free.pop() ?? new ArrayBuffer(CHUNK_BYTES);
  }

  /** A copy of `packed` in a buffer of its own. */
  copy(packed: Packed): Packed {
    const buffer = this.take(packed.length);
    new Uint8Array(buffer).set(new Uint8Array(packed.buffer, 0, packed.length));
    return { buffer, length: packed.length };
  }

  /** Takes buffers back that nobody uses any more. */
  give(buffers: readonly ArrayBuffer[]): void {
    for (const buffer of buffers) {
      if (buffer.byteLength === CHUNK_BYTES && this.#free.length < FREE_MAX) this.#free.push(buffer);
    }
  }
}
