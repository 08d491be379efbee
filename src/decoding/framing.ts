import type { RecordFault } from "../core/fault.ts";
import { decodeFault } from "./faults.ts";
import { Wire } from "./wire.ts";

/**
 * The Confluent wire format: a zero byte, a schema id of four bytes, and for protobuf the path of the message within the
 * schema's file as zig-zag varints, its length first; one zero byte stands for the path [0]. The id is not looked up:
 * the source's descriptor decides how a record is read.
 * https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
 */
const HEADER_BYTES = 5;

/** Longest path of message indexes: deeper than messages can be nested in a file. */
const MAX_INDEXES = 32;

/** Returns where the payload behind a Confluent header without message indexes begins (JSON, raw), or a fault. */
export function skipConfluentHeader(value: Uint8Array): number | RecordFault {
  if (value.length < HEADER_BYTES) return framingFault(0, `${value.length} bytes are too few for a header`);
  const magic = value[0] ?? 0;
  return magic === 0 ? HEADER_BYTES : framingFault(0, `the first byte is ${magic} instead of 0`);
}

/** Reads the whole header in front of a protobuf payload. Returns where the payload begins, or a fault. */
export function skipConfluentProtobuf(value: Uint8Array, expected: readonly number[]): number | RecordFault {
  const start = skipConfluentHeader(value);
  if (typeof start !== "number") return start;
  const wire = new Wire(0);
  wire.reset(value, start);
  const indexes = readIndexes(wire);
  if (indexes === undefined) return framingFault(start, "the message indexes are malformed");
  const same = indexes.length === expected.length && indexes.every((index, at) => index === expected[at]);
  if (same) return wire.pos;
  const id = new DataView(value.buffer, value.byteOffset, value.byteLength).getUint32(1);
  return framingFault(
    start,
    `schema id ${id} with message [${indexes.join(", ")}] instead of [${expected.join(", ")}]`,
  );
}

function readIndexes(wire: Wire): readonly number[] | undefined {
  const count = readIndex(wire);
  if (count === undefined || count > MAX_INDEXES) return undefined;
  if (count === 0) return [0];
  const indexes: number[] = [];
  for (let read = 0; read < count; read += 1) {
    const index = readIndex(wire);
    if (index === undefined) return undefined;
    indexes.push(index);
  }
  return indexes;
}

/** A zig-zag varint from 0 to 2^31 − 1. */
function readIndex(wire: Wire): number | undefined {
  if (!wire.varint(wire.bytes.length)) return undefined;
  wire.unzigzag64();
  return wire.hi === 0 && wire.lo >= 0 ? wire.lo : undefined;
}

function framingFault(at: number, detail: string): RecordFault {
  return decodeFault("DECODE_FRAMING", at, "", detail);
}
