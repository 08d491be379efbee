import type { RecordFault } from "../core/fault.ts";
import { decodeFault } from "./faults.ts";
import type { DecodeCode } from "./faults.ts";
import { WIRE_BYTES, WIRE_END_GROUP, WIRE_FIXED32, WIRE_FIXED64, WIRE_GROUP, WIRE_VARINT } from "./schema.ts";

/** Unlike a value, a tag may not be longer than 32 bits need: protobuf's own parsers refuse it. */
const MAX_TAG_BYTES = 5;

/** A Buffer like the values that come from the broker, so that the engine sees one kind of object. */
const NOTHING: Uint8Array = Buffer.alloc(0);

/**
 * A reader of protobuf wire data (https://protobuf.dev/programming-guides/encoding/). One per decoder, reset per record:
 * nothing is allocated per field. Methods return false or −1 once a fault is set, and never read past `end`.
 */
export class Wire {
  bytes: Uint8Array = NOTHING;
  pos = 0;
  /** Low and high 32 bits of what {@link varint} or {@link fixed64} read last, as signed numbers. */
  lo = 0;
  hi = 0;
  /** How deep messages and groups may nest; the record's message is at 0. */
  readonly maxDepth: number;
  readonly #scratch = new DataView(new ArrayBuffer(8));
  readonly #groups: Int32Array;
  #code: DecodeCode | undefined;
  #at = 0;
  #detail = "";
  #path: number[] = [];

  constructor(maxDepth: number) {
    this.maxDepth = maxDepth;
    this.#groups = new Int32Array(maxDepth + 1);
  }

  reset(bytes: Uint8Array, pos: number): void {
    this.bytes = bytes;
    this.pos = pos;
    this.#code = undefined;
  }

  /** Drops the record's bytes, so that an idle decoder keeps no batch alive. */
  release(): void {
    this.bytes = NOTHING;
  }

  fail(code: DecodeCode, at: number, detail = ""): false {
    this.#code = code;
    this.#at = at;
    this.#detail = detail;
    this.#path = [];
    return false;
  }

  /** Adds a field number in front of the fault's path, on the way out of that field. */
  within(number: number): false {
    this.#path.unshift(number);
    return false;
  }

  fault(): RecordFault {
    return decodeFault(this.#code ?? "DECODE_TRUNCATED", this.#at, this.#path.join("."), this.#detail);
  }

  /** Reads a tag as an unsigned number, or −1. Field numbers 0 and above 2^29 − 1 are refused, and more than five bytes. */
  tag(end: number): number {
    const start = this.pos;
    const first = this.bytes[start] ?? 0;
    if (first < 0x80 && first > 7 && start < end) {
      this.pos = start + 1;
      return first;
    }
    if (!this.varint(end)) return -1;
    const tag = this.lo >>> 0;
    if (this.hi === 0 && tag > 7 && this.pos - start <= MAX_TAG_BYTES) return tag;
    this.fail("DECODE_FIELD_NUMBER", start);
    return -1;
  }

  /** Reads a varint into {@link lo} and {@link hi}. */
  varint(end: number): boolean {
    const { bytes, pos } = this;
    // Up to 35 bits, far enough from the end, is what nearly all varints are: a time's seconds have 31.
    if (end - pos < 5) return this.#anyVarint(end);
    let byte = bytes[pos] ?? 0;
    let lo = byte & 0x7f;
    let hi = 0;
    let next = pos + 1;
    for (let shift = 7; byte >= 0x80 && shift < 28; shift += 7) {
      byte = bytes[next++] ?? 0;
      lo |= (byte & 0x7f) << shift;
    }
    if (byte >= 0x80) {
      byte = bytes[next++] ?? 0;
      if (byte >= 0x80) return this.#anyVarint(end);
      lo |= byte << 28;
      hi = byte >>> 4;
    }
    this.lo = lo;
    this.hi = hi;
    this.pos = next;
    return true;
  }

  #anyVarint(end: number): boolean {
    const { bytes } = this;
    let { pos } = this;
    if (pos >= end) return this.fail("DECODE_TRUNCATED", pos);
    let byte = bytes[pos++] ?? 0;
    let lo = byte & 0x7f;
    let hi = 0;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (pos >= end) return this.fail("DECODE_TRUNCATED", this.pos);
      byte = bytes[pos++] ?? 0;
      if (shift < 28) lo |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        lo |= (byte & 0x0f) << 28;
        hi = (byte & 0x7f) >>> 4;
      } else if (shift < 63) hi |= (byte & 0x7f) << (shift - 32);
      else if (byte > 1) return this.fail("DECODE_VARINT", this.pos);
      else hi |= byte << 31;
    }
    this.lo = lo;
    this.hi = hi;
    this.pos = pos;
    return true;
  }

  /** Reads a length and checks that so many bytes follow before `end`. Returns where they end, or −1. */
  length(end: number): number {
    const start = this.pos;
    const first = this.bytes[start] ?? 0;
    let length = first;
    if (first < 0x80 && start < end) this.pos = start + 1;
    else {
      if (!this.varint(end)) return -1;
      length = this.lo >>> 0;
      if (this.hi !== 0) length = Number.POSITIVE_INFINITY;
    }
    const stop = this.pos + length;
    if (stop <= end) return stop;
    this.fail("DECODE_TRUNCATED", start);
    return -1;
  }

  /** Reads four bytes into {@link lo}. */
  fixed32(end: number): boolean {
    const { pos } = this;
    if (end - pos < 4) return this.fail("DECODE_TRUNCATED", pos);
    this.lo = this.#word(pos);
    this.hi = 0;
    this.pos = pos + 4;
    return true;
  }

  /** Reads eight bytes into {@link lo} and {@link hi}. */
  fixed64(end: number): boolean {
    const { pos } = this;
    if (end - pos < 8) return this.fail("DECODE_TRUNCATED", pos);
    this.lo = this.#word(pos);
    this.hi = this.#word(pos + 4);
    this.pos = pos + 8;
    return true;
  }

  /** Reads a number, bool or enum of the type into {@link lo} and {@link hi}. */
  scalar(type: string, end: number): boolean {
    switch (type) {
      case "double":
      case "fixed64":
      case "sfixed64":
        return this.fixed64(end);
      case "float":
      case "fixed32":
      case "sfixed32":
        return this.fixed32(end);
      default:
        return this.varint(end);
    }
  }

  #word(pos: number): number {
    const { bytes } = this;
    return (
      (bytes[pos] ?? 0) | ((bytes[pos + 1] ?? 0) << 8) | ((bytes[pos + 2] ?? 0) << 16) | ((bytes[pos + 3] ?? 0) << 24)
    );
  }

  /** Undoes the zig-zag encoding of {@link lo} and {@link hi}. */
  unzigzag64(): void {
    const sign = -(this.lo & 1);
    const lo = ((this.lo >>> 1) | (this.hi << 31)) ^ sign;
    this.hi = (this.hi >>> 1) ^ sign;
    this.lo = lo;
  }

  int64(): bigint {
    this.#scratch.setInt32(0, this.lo, true);
    this.#scratch.setInt32(4, this.hi, true);
    return this.#scratch.getBigInt64(0, true);
  }

  uint64(): bigint {
    this.#scratch.setInt32(0, this.lo, true);
    this.#scratch.setInt32(4, this.hi, true);
    return this.#scratch.getBigUint64(0, true);
  }

  double(): number {
    this.#scratch.setInt32(0, this.lo, true);
    this.#scratch.setInt32(4, this.hi, true);
    return this.#scratch.getFloat64(0, true);
  }

  float(): number {
    this.#scratch.setInt32(0, this.lo, true);
    return this.#scratch.getFloat32(0, true);
  }

  /**
   * Passes over one field whose tag has just been read, checked as far as its wire type shows: lengths, varints, groups
   * with everything in them. `depth` is that of the message that holds the field.
   */
  skip(tag: number, tagAt: number, end: number, depth: number): boolean {
    switch (tag & 7) {
      case WIRE_VARINT:
        return this.varint(end);
      case WIRE_FIXED64:
        return this.#advance(8, end);
      case WIRE_BYTES: {
        const stop = this.length(end);
        if (stop < 0) return false;
        this.pos = stop;
        return true;
      }
      case WIRE_GROUP:
        return this.#skipGroup(tag >>> 3, tagAt, end, depth);
      case WIRE_END_GROUP:
        return this.fail("DECODE_GROUP", tagAt);
      case WIRE_FIXED32:
        return this.#advance(4, end);
      default:
        return this.fail("DECODE_WIRE_TYPE", tagAt);
    }
  }

  #advance(count: number, end: number): boolean {
    if (end - this.pos < count) return this.fail("DECODE_TRUNCATED", this.pos);
    this.pos += count;
    return true;
  }

  /** Walks an unknown group without recursion: a record of nothing but group starts must not overflow the stack. */
  #skipGroup(number: number, tagAt: number, end: number, depth: number): boolean {
    let open = 0;
    let at = tagAt;
    this.#groups[0] = number;
    for (;;) {
      if (depth + open + 1 > this.maxDepth) return this.fail("DECODE_DEPTH", at);
      at = this.pos;
      if (at >= end) return this.fail("DECODE_GROUP", at);
      const tag = this.tag(end);
      if (tag < 0) return false;
      const wireType = tag & 7;
      if (wireType === WIRE_GROUP) {
        open += 1;
        this.#groups[open] = tag >>> 3;
      } else if (wireType === WIRE_END_GROUP) {
        if (this.#groups[open] !== tag >>> 3) return this.fail("DECODE_GROUP", at);
        if (open === 0) return true;
        open -= 1;
      } else if (!this.skip(tag, at, end, depth + open + 1)) return false;
    }
  }
}
