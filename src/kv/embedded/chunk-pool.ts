/** Size of a pooled buffer. */
export const CHUNK_BYTES = 256 * 1024;

/** Free buffers kept at most. */
const FREE_MAX = 128;

/**
 * Buffers that cells are packed into and that are used again once every owner was sent what they hold. Being used again they
 * make no garbage, which would pile up where there is little else to collect.
 */
export class ChunkPool {
  readonly #free: ArrayBuffer[] = [];

  /** A buffer of at least `bytes`; what it holds is arbitrary. Small ones and oversized ones are not pooled. */
  take(bytes: number): ArrayBuffer {
    if (bytes <= CHUNK_BYTES / 4 || bytes > CHUNK_BYTES) return new ArrayBuffer(bytes);
    return this.#free.pop() ?? new ArrayBuffer(CHUNK_BYTES);
  }

  /** Takes buffers back that nobody uses any more. */
  give(buffers: readonly ArrayBufferLike[]): void {
    for (const buffer of buffers) {
      const pooled = buffer instanceof ArrayBuffer && buffer.byteLength === CHUNK_BYTES;
      if (pooled && this.#free.length < FREE_MAX) this.#free.push(buffer);
    }
  }
}
