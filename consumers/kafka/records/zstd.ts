import * as zlib from "node:zlib";
import { Decompress } from "fzstd";
import { BatchFault } from "./batch-fault.ts";

type ZstdInflate = (input: Uint8Array, options: { maxOutputLength: number }) => Buffer;

/** Largest window that a frame may ask for: what compression level 22 uses, and the reference decoder's default limit. */
const WINDOW_BYTES_MAX = 1 << 27;
const MAGIC = 0xfd2fb528;

/** Node's own decoder (22.15, 23.8 and later); undefined on Node 20. */
const native: ZstdInflate | undefined = nativeZstd(zlib);

function nativeZstd(module: object): ZstdInflate | undefined {
  const candidate: unknown = Reflect.get(module, "zstdDecompressSync");
  return isInflate(candidate) ? candidate : undefined;
}

function isInflate(value: unknown): value is ZstdInflate {
  return typeof value === "function";
}

/** Inflates zstd frames. @throws BatchFault `batch-too-large` above `limit`; the decoder's own error for damaged bytes. */
export function inflateZstd(input: Buffer, limit: number): Buffer {
  if (native !== undefined) return native(input, { maxOutputLength: limit });
  requireWindow(input, limit);
  const parts: Uint8Array[] = [];
  let total = 0;
  const stream = new Decompress((part) => {
    total += part.length;
    if (total > limit) throw tooLarge(limit);
    parts.push(part);
  });
  stream.push(input, true);
  return Buffer.concat(parts, total);
}

/** fzstd allocates what the first frame's header asks for, so the header is judged first (RFC 8878, section 3.1.1.1). */
function requireWindow(input: Buffer, limit: number): void {
  if (input.length < 6 || input.readUInt32LE(0) !== MAGIC) return;
  const descriptor = input.readUInt8(4);
  const single = (descriptor & 0x20) !== 0;
  if (single) {
    const at = 5 + [0, 1, 2, 4][descriptor & 3]!;
    const size = contentBytes(input, descriptor >>> 6, at);
    if (size > limit) throw tooLarge(limit);
    return;
  }
  const window = input.readUInt8(5);
  const base = 2 ** (10 + (window >>> 3));
  if (base + (base / 8) * (window & 7) > WINDOW_BYTES_MAX) throw tooLarge(limit);
}

function contentBytes(input: Buffer, flag: number, at: number): number {
  const length = [1, 2, 4, 8][flag]!;
  if (at + length > input.length) return 0;
  if (flag === 0) return input.readUInt8(at);
  if (flag === 1) return input.readUInt16LE(at) + 256;
  return flag === 2 ? input.readUInt32LE(at) : Number(input.readBigUInt64LE(at));
}

function tooLarge(limit: number): BatchFault {
  return new BatchFault("batch-too-large", `a record batch inflates to more than ${limit} bytes`);
}
