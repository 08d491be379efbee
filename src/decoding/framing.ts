import type { RecordFault } from "../core/fault.ts";
import { decodeFault } from "./faults.ts";
import { Wire } from "./wire.ts";

/**
 * The Confluent wire format: a zero byte, a schema id of four bytes, and for protobuf the path of the message within the
 * schema's file as zig-zag varints, its length first; one zero byte stands for the path [0]. The id is not looked up:
 * the source's descriptor decides how a record is read. A fault names the id as soon as it has been read.
 * https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
 */
const HEADER_BYTES = 5;

/** Longest path of message indexes: deeper than messages can be nested in a file. */
const MAX_INDEXES = 32;

/** Returns where the payload behind a Confluent header without message indexes begins (JSON, raw), or a fault. */
export function skipConfluentHeader(value: Uint8Array): number | RecordFault {
  const magic = value[0] ?? 0;
  // Before the length: a value that is not framed at all is told from one that was cut off.
  if (magic !== 0) return framingFault(0, `the first byte is ${magic} instead of 0`);
  if (value.length >= HEADER_BYTES) return HEADER_BYTES;
  return framingFault(0, `${value.length} bytes are too few for a header of ${HEADER_BYTES}`);
}

/** The message that a protobuf payload must hold. */
export interface FramedMessage {
  /** Its path of indexes within its file. */
  readonly path: readonly number[];
  /** Whether the descriptor has a message at a path of the same file. */
  readonly has: (path: readonly number[]) => boolean;
}

/** Reads the whole header in front of a protobuf payload. Returns where the payload begins, or a fault. */
export function skipConfluentProtobuf(value: Uint8Array, expected: FramedMessage): number | RecordFault {
  const start = skipConfluentHeader(value);
  if (typeof start !== "number") return start;
  const wire = new Wire(0);
  wire.reset(value, start);
  const indexes = readIndexes(wire);
  if (typeof indexes !== "string" && isSamePath(indexes, expected.path)) return wire.pos;
  const id = new DataView(value.buffer, value.byteOffset, value.byteLength).getUint32(1);
  const detail = typeof indexes === "string" ? `: ${indexes}` : ` with ${otherMessage(indexes, expected)}`;
  return framingFault(start, `schema id ${id}${detail}`);
}

function isSamePath(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((index, at) => index === b[at]);
}

function otherMessage(indexes: readonly number[], { path, has }: FramedMessage): string {
  const unknown = has(indexes) ? "" : ", which the descriptor does not have,";
  return `message [${indexes.join(", ")}]${unknown} instead of [${path.join(", ")}]`;
}

/** The path of message indexes, or what is wrong with it. */
function readIndexes(wire: Wire): readonly number[] | string {
  const count = readIndex(wire);
  if (typeof count === "string") return `the number of message indexes ${count}`;
  if (count < 0n) return `${count} message indexes`;
  if (count > MAX_INDEXES) return `${count} message indexes are more than the ${MAX_INDEXES} that can be nested`;
  if (count === 0n) return [0];
  const indexes: number[] = [];
  while (indexes.length < count) {
    const place = `message index ${indexes.length + 1} of ${count}`;
    const index = readIndex(wire);
    if (typeof index === "string") return `${place} ${index}`;
    if (index < 0n || index > 0x7fff_ffffn) return `${place} is ${index}`;
    indexes.push(Number(index));
  }
  return indexes;
}

/** A zig-zag varint, or what is wrong with it. */
function readIndex(wire: Wire): bigint | string {
  if (wire.varint(wire.bytes.length)) {
    wire.unzigzag64();
    return wire.int64();
  }
  return wire.fault().code === "DECODE_TRUNCATED" ? "ends too early" : "has more than 64 bits";
}

function framingFault(at: number, detail: string): RecordFault {
  return decodeFault("DECODE_FRAMING", at, "", detail);
}
