import { gunzipSync } from "node:zlib";
import { decompressFrameSync } from "lz4-napi";
import { BatchFault } from "./batch-fault.ts";
import { lz4InflatedBytes } from "./lz4-size.ts";
import { inflateSnappy } from "./snappy.ts";
import { inflateZstd } from "./zstd.ts";

type Inflate = (input: Buffer, limit: number) => Buffer;

interface Codec {
  readonly name: string;
  readonly inflate: Inflate;
}

/** By the codec number in a batch's attributes; 0 is uncompressed. */
const CODECS: Readonly<Record<number, Codec>> = {
  1: { name: "gzip", inflate: (input, limit) => gunzipSync(input, { maxOutputLength: limit }) },
  2: { name: "snappy", inflate: inflateSnappy },
  3: { name: "lz4", inflate: inflateLz4 },
  4: { name: "zstd", inflate: inflateZstd },
};

/**
 * Inflates the records of one batch.
 * @param limit most bytes that may come out.
 * @throws BatchFault `codec-missing` for an unknown codec, `batch-too-large` above the limit, else `undecodable`.
 */
export function inflate(codec: number, input: Buffer, limit: number): Buffer {
  const known = CODECS[codec];
  if (known === undefined) throw new BatchFault("codec-missing", `compression codec ${codec} is not known`);
  try {
    const records = known.inflate(input, limit);
    // fzstd takes cut or empty input for nothing at all.
    if (records.length === 0) throw new BatchFault("undecodable", `a ${known.name} batch inflates to nothing`);
    return records;
  } catch (error) {
    if (error instanceof BatchFault) throw error;
    if (isOverflow(error)) {
      throw new BatchFault("batch-too-large", `a ${known.name} batch inflates to more than ${limit} bytes`);
    }
    // The decoder's text may quote nothing of the record, but it is not ours: the codec's name says enough.
    throw new BatchFault("undecodable", `a ${known.name} batch does not inflate`, { cause: error });
  }
}

function inflateLz4(input: Buffer, limit: number): Buffer {
  const bytes = lz4InflatedBytes(input, limit);
  if (bytes > limit) throw new BatchFault("batch-too-large", `an lz4 batch inflates to ${bytes} bytes, limit ${limit}`);
  return decompressFrameSync(input);
}

function isOverflow(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
