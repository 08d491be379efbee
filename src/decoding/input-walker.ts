import type { RecordFault } from "../core/fault.ts";
import type { InputValue } from "../ports/decoder.ts";
import { decodeFault } from "./faults.ts";
import {
  BOOL,
  CLOSED_ENUM,
  DOUBLE,
  FLOAT,
  MESSAGE,
  OPEN_ENUM,
  SECONDS,
  SIGNED_32,
  SKIP,
  TEXT,
  UNSIGNED_32,
  UNSIGNED_64,
  ZIGZAG_32,
  ZIGZAG_64,
} from "./input-plan.ts";
import type { InputAction, InputNode, InputPlan, TimeInput } from "./input-plan.ts";
import { WIRE_BYTES, WIRE_END_GROUP, WIRE_FIXED32, WIRE_GROUP, WIRE_VARINT } from "./schema.ts";
import { textOf } from "./text.ts";
import { isTimestamp, timeFromMilliseconds, timeFromTimestamp } from "./time.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import type { Wire } from "./wire.ts";

/**
 * Reads a kind's inputs from wire data by a compiled plan. What no input needs is passed over by its wire type. This is the
 * hottest code of the service: per field it allocates nothing but the input's own value.
 */
export class InputWalker {
  readonly #plan: InputPlan;
  readonly #wire: Wire;
  /** Absent where another pass over the same record counts. */
  readonly #unknown: UnknownFields | undefined;
  readonly #seconds: Float64Array;
  readonly #nanos: Float64Array;
  /** Where each time input's field began last. */
  readonly #at: Float64Array;
  readonly #empty: readonly InputValue[];
  #values: InputValue[] = [];

  constructor(plan: InputPlan, wire: Wire, unknown: UnknownFields | undefined) {
    this.#plan = plan;
    this.#wire = wire;
    this.#unknown = unknown;
    this.#seconds = new Float64Array(plan.count);
    this.#nanos = new Float64Array(plan.count);
    this.#at = new Float64Array(plan.count);
    this.#empty = Array.from({ length: plan.count }, () => undefined);
  }

  /** Reads the record from the wire's position to the end of its bytes. */
  read(): InputValue[] | RecordFault {
    const values = this.#empty.slice();
    const { times, root } = this.#plan;
    this.#values = values;
    for (let index = 0; index < times.length; index += 1) this.#clear(times[index]?.slot ?? 0);
    if (!this.#walk(root, this.#wire.bytes.length, 0, 0)) return this.#wire.fault();
    for (let index = 0; index < times.length; index += 1) {
      const time = times[index];
      if (time !== undefined && !this.#finishTime(time)) {
        return decodeFault("DECODE_RANGE", this.#at[time.slot] ?? 0, time.path.join("."), "a time");
      }
    }
    return values;
  }

  /** Turns what was read for a time into milliseconds. Returns whether it is in range. */
  #finishTime({ slot, timestamp }: TimeInput): boolean {
    const value = this.#values[slot];
    if (value === undefined) return true;
    const seconds = this.#seconds[slot] ?? 0;
    const nanos = this.#nanos[slot] ?? 0;
    if (!timestamp) this.#values[slot] = timeFromMilliseconds(value);
    else this.#values[slot] = isTimestamp(seconds, nanos) ? timeFromTimestamp(seconds, nanos) : undefined;
    return this.#values[slot] !== undefined;
  }

  #clear(slot: number): void {
    this.#values[slot] = undefined;
    this.#seconds[slot] = 0;
    this.#nanos[slot] = 0;
  }

  /** Walks one message up to `end`, or up to the end of the group with that number. */
  #walk(node: InputNode, end: number, group: number, depth: number): boolean {
    const wire = this.#wire;
    const { low, high } = node;
    while (wire.pos < end) {
      const at = wire.pos;
      const tag = wire.tag(end);
      if (tag < 0) return false;
      const number = tag >>> 3;
      if ((tag & 7) === WIRE_END_GROUP) return number === group || wire.fail("DECODE_GROUP", at);
      const action = number < low.length ? low[number] : high.get(number);
      if (action === undefined) {
        this.#unknown?.add(depth, number);
        if (!wire.skip(tag, at, end, depth)) return wire.within(number);
      } else if (!this.#field(action, tag, at, end, depth)) return wire.within(number);
    }
    return group === 0 || wire.fail("DECODE_GROUP", end);
  }

  #field(action: InputAction, tag: number, at: number, end: number, depth: number): boolean {
    const { operation, wireType } = action;
    const wire = this.#wire;
    const fitting = (tag & 7) === wireType;
    if (operation === SKIP || (action.slot < 0 && !fitting && operation !== MESSAGE)) {
      if (!wire.skip(tag, at, end, depth)) return false;
      if (fitting) this.#clearOthers(action);
      return true;
    }
    if (!fitting) return wire.fail("DECODE_WIRE_TYPE", at, `wire type ${tag & 7}`);
    if (operation === CLOSED_ENUM) return this.#closedEnum(action, end, depth);
    this.#clearOthers(action);
    if (operation === MESSAGE) return this.#message(action, at, end, depth + 1);
    this.#at[action.slot] = at;
    if (wireType === WIRE_BYTES) return this.#bytes(action, end);
    if (wireType === WIRE_VARINT ? !wire.varint(end) : !this.#fixed(wireType, end)) return false;
    this.#number(action);
    return true;
  }

  #fixed(wireType: number, end: number): boolean {
    return wireType === WIRE_FIXED32 ? this.#wire.fixed32(end) : this.#wire.fixed64(end);
  }

  /** A number that a closed enum does not have is an unknown field: it neither sets nor clears anything. */
  #closedEnum(action: InputAction, end: number, depth: number): boolean {
    const wire = this.#wire;
    if (!wire.varint(end)) return false;
    if (action.known?.has(wire.lo) !== true) this.#unknown?.add(depth, action.number);
    else {
      this.#clearOthers(action);
      if (action.slot >= 0) this.#values[action.slot] = wire.lo !== 0 || action.presence ? wire.lo : undefined;
    }
    return true;
  }

  #clearOthers({ clears }: InputAction): void {
    for (let index = 0; index < clears.length; index += 1) this.#clear(clears[index] ?? 0);
  }

  #message(action: InputAction, at: number, end: number, depth: number): boolean {
    const wire = this.#wire;
    const { child, slot, number, wireType } = action;
    if (depth > wire.maxDepth || child === undefined) return wire.fail("DECODE_DEPTH", at);
    if (slot >= 0) {
      this.#values[slot] = true;
      this.#at[slot] = at;
    }
    this.#unknown?.enter(depth, number);
    if (wireType === WIRE_GROUP) return this.#walk(child, end, number, depth);
    const stop = wire.length(end);
    return stop >= 0 && this.#walk(child, stop, 0, depth);
  }

  #bytes({ operation, slot, presence }: InputAction, end: number): boolean {
    const wire = this.#wire;
    const stop = wire.length(end);
    if (stop < 0) return false;
    const start = wire.pos;
    wire.pos = stop;
    if (stop === start && !presence) {
      this.#values[slot] = undefined;
      return true;
    }
    if (operation !== TEXT) {
      this.#values[slot] = wire.bytes.subarray(start, stop);
      return true;
    }
    const text = textOf(wire.bytes, start, stop);
    this.#values[slot] = text;
    return text !== undefined || wire.fail("DECODE_UTF8", start);
  }

  /** Turns the bits that were read into the input's value. */
  #number({ operation, slot, presence }: InputAction): void {
    const wire = this.#wire;
    if (operation >= SECONDS) {
      if (operation === SECONDS) this.#seconds[slot] = wire.hi * 2 ** 32 + (wire.lo >>> 0);
      else this.#nanos[slot] = wire.lo;
      return;
    }
    const zero = wire.lo === 0 && (wire.hi === 0 || isNarrow(operation));
    this.#values[slot] = zero && !presence ? undefined : numberOf(wire, operation);
  }
}

/** Whether only the low 32 bits count. */
function isNarrow(operation: number): boolean {
  return (operation >= SIGNED_32 && operation <= ZIGZAG_32) || operation === OPEN_ENUM;
}

function numberOf(wire: Wire, operation: number): InputValue {
  switch (operation) {
    case UNSIGNED_64:
      return wire.uint64();
    case ZIGZAG_64:
      wire.unzigzag64();
      return wire.int64();
    case SIGNED_32:
      return BigInt(wire.lo);
    case UNSIGNED_32:
      return BigInt(wire.lo >>> 0);
    case ZIGZAG_32:
      return BigInt((wire.lo >>> 1) ^ -(wire.lo & 1));
    case BOOL:
      return wire.lo !== 0 || wire.hi !== 0;
    case OPEN_ENUM:
      return wire.lo;
    case DOUBLE:
      return wire.double();
    case FLOAT:
      return wire.float();
    default:
      return wire.int64();
  }
}
