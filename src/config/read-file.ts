import { closeSync, openSync, readSync } from "node:fs";

/**
 * Reads a file up to one byte more than `maxBytes`, so that the caller can tell that it is too large without holding it.
 * Throws what the file system throws.
 */
export function readBounded(path: string, maxBytes: number): Uint8Array {
  const descriptor = openSync(path, "r");
  try {
    const buffer = new Uint8Array(maxBytes + 1);
    let length = 0;
    while (length < buffer.length) {
      const read = readSync(descriptor, buffer, length, buffer.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return buffer.slice(0, length);
  } finally {
    closeSync(descriptor);
  }
}
