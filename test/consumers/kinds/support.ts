import { kinds } from "../../../consumers/index.ts";
import type { RecordFault } from "../../../src/core/fault.ts";
import { isFault } from "../../../src/core/fault.ts";
import type { KindName } from "../../../src/core/source.ts";
import { createDecoderCompiler } from "../../../src/decoding/compiler.ts";
import { BUILTIN_DESCRIPTORS } from "../../../src/descriptors/builtin.ts";
import type { DecoderSpec } from "../../../src/ports/decoder.ts";
import type { VersionedWrite } from "../../../src/ports/kind.ts";

/** One field of a message on the wire. */
export type Field = readonly [
  number: number,
  value: string | bigint | { double: number } | { fixed64: bigint } | Field[],
];

const encoder = new TextEncoder();

/** Encodes a message as a producer does: texts and messages by length, integers as varints, doubles and fixed64 as they are. */
export function message(fields: readonly Field[]): Uint8Array {
  const bytes: number[] = [];
  for (const [number, value] of fields) {
    if (typeof value === "bigint") {
      varint(bytes, BigInt(number * 8));
      varint(bytes, BigInt.asUintN(64, value));
    } else if (typeof value === "string" || Array.isArray(value)) {
      const content = typeof value === "string" ? encoder.encode(value) : message(value);
      varint(bytes, BigInt(number * 8 + 2));
      varint(bytes, BigInt(content.length));
      bytes.push(...content);
    } else {
      const view = new DataView(new ArrayBuffer(8));
      if ("double" in value) view.setFloat64(0, value.double, true);
      else view.setBigUint64(0, value.fixed64, true);
      varint(bytes, BigInt(number * 8 + 1));
      bytes.push(...new Uint8Array(view.buffer));
    }
  }
  return Uint8Array.from(bytes);
}

function varint(target: number[], value: bigint): void {
  let rest = value;
  while (rest > 0x7fn) {
    target.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  target.push(Number(rest));
}

/** A google.protobuf.Timestamp. */
export function timestamp(ms: number): Field[] {
  const seconds = Math.floor(ms / 1_000);
  const nanos = (ms - seconds * 1_000) * 1_000_000;
  return [[1, BigInt(seconds)], ...(nanos === 0 ? [] : [[2, BigInt(nanos)] satisfies Field])];
}

/** What a decoder of the kind's own contract is compiled from. */
export function specOf(kind: KindName, subject: string, body: DecoderSpec["body"] = "json"): DecoderSpec {
  const found = kinds.get(kind);
  const builtin = BUILTIN_DESCRIPTORS.find((one) => one.subject === subject);
  if (found === undefined || builtin === undefined) throw new Error(`no ${kind} or ${subject}`);
  return {
    format: "protobuf",
    framing: "none",
    descriptor: { descriptor: { subject, version: 1, files: builtin.files }, message: builtin.message },
    inputs: found.inputs,
    mapping: found.defaultMapping,
    body: found.keepsBody ? body : "none",
  };
}

/** Judges one record of a versioned kind as the service does: decoded by the kind's own contract. */
export function judge(
  kind: KindName,
  subject: string,
  key: string | Uint8Array | null,
  value: readonly Field[] | null,
): VersionedWrite | RecordFault {
  const found = kinds.get(kind);
  if (found === undefined || found.counting) throw new Error(`${kind} is not versioned`);
  const record = { key: typeof key === "string" ? encoder.encode(key) : key, timestampMs: 1_790_000_000_000 };
  if (value === null) return found.apply(record, null);
  const decoded = createDecoderCompiler().compile(specOf(kind, subject)).decode(message(value));
  return isFault(decoded) ? decoded : found.apply(record, decoded);
}
