import type { RecordFault } from "../core/fault.ts";
import type { InputValue } from "../ports/decoder.ts";
import { decodeFault } from "./faults.ts";
import type { InputAction, InputNode, InputPlan } from "./input-plan.ts";
import { WIRE_END_GROUP, WIRE_GROUP } from "./schema.ts";
import { textOf } from "./text.ts";
import { isTimestamp, timeFromMilliseconds, timeFromTimestamp } from "./time.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import type { Wire } from "./wire.ts";

/** Reads a kind's inputs from wire data by a compiled plan. What no input needs is passed over by its wire type. */
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
    this.#values = values;
    for (const time of this.#plan.times) this.#clear(time.slot);
    if (!this.#walk(this.#plan.root, this.#wire.bytes.length, 0, 0)) return this.#wire.fault();
    for (const time of this.#plan.times) {
      const value = values[time.slot];
      if (value === undefined) continue;
      const ms = time.timestamp ? this.#timestamp(time.slot) : timeFromMilliseconds(value);
      if (ms === undefined) return decodeFault("DECODE_RANGE", this.#at[time.slot] ?? 0, time.path.join("."), "a time");
      values[time.slot] = ms;
    }
    return values;
  }

  #timestamp(slot: number): number | undefined {
    const seconds = this.#seconds[slot] ?? 0;
    const nanos = this.#nanos[slot] ?? 0;
    return isTimestamp(seconds, nanos) ? timeFromTimestamp(seconds, nanos) : undefined;
  }

  #clear(slot: number): void {
    this.#values[slot] = undefined;
    this.#seconds[slot] = 0;
    this.#nanos[slot] = 0;
  }

  /** Walks one message up to `end`, or up to the end of the group with that number. */
  #walk(node: InputNode, end: number, group: number, depth: number): boolean {
    const wire = this.#wire;
    while (wire.pos < end) {
      const at = wire.pos;
      const tag = wire.tag(end);
      if (tag < 0) return false;
      const number = tag >>> 3;
      if ((tag & 7) === WIRE_END_GROUP) return number === group || wire.fail("DECODE_GROUP", at);
      const action = number < node.low.length ? node.low[number] : node.high.get(number);
      if (action === undefined) {
        this.#unknown?.add(depth, number);
        if (!wire.skip(tag, at, end, depth)) return wire.within(number);
      } else if (!this.#field(action, tag, at, end, depth)) return wire.within(number);
    }
    return group === 0 || wire.fail("DECODE_GROUP", end);
  }

  #field(action: InputAction, tag: number, at: number, end: number, depth: number): boolean {
    const wire = this.#wire;
    const wireType = tag & 7;
    if (action.operation === "skip") return this.#unneeded(action, tag, at, end, depth);
    if (wireType !== action.wireType) return wire.fail("DECODE_WIRE_TYPE", at, `wire type ${wireType}`);
    if (action.known !== undefined) return this.#closedEnum(action, action.known, end, depth);
    this.#clearOthers(action);
    if (action.child !== undefined) return this.#message(action, action.child, at, end, depth + 1);
    this.#at[action.slot] = at;
    return this.#scalar(action, end);
  }

  /** A field that feeds no input may still unset one: it can be a member of its oneof. */
  #unneeded(action: InputAction, tag: number, at: number, end: number, depth: number): boolean {
    const fitting = (tag & 7) === action.wireType;
    if (fitting && action.known !== undefined) return this.#closedEnum(action, action.known, end, depth);
    if (!this.#wire.skip(tag, at, end, depth)) return false;
    if (fitting) this.#clearOthers(action);
    return true;
  }

  /** A number that a closed enum does not have is an unknown field: it neither sets nor clears anything. */
  #closedEnum(action: InputAction, known: ReadonlyMap<number, string>, end: number, depth: number): boolean {
    const wire = this.#wire;
    if (!wire.varint(end)) return false;
    if (!known.has(wire.lo)) this.#unknown?.add(depth, action.number);
    else {
      this.#clearOthers(action);
      if (action.slot >= 0) this.#values[action.slot] = wire.lo !== 0 || action.presence ? wire.lo : undefined;
    }
    return true;
  }

  #clearOthers(action: InputAction): void {
    if (action.clears.length === 0) return;
    for (const slot of action.clears) this.#clear(slot);
  }

  #message(action: InputAction, child: InputNode, at: number, end: number, depth: number): boolean {
    const wire = this.#wire;
    if (depth > wire.maxDepth) return wire.fail("DECODE_DEPTH", at);
    if (action.slot >= 0) {
      this.#values[action.slot] = true;
      this.#at[action.slot] = at;
    }
    this.#unknown?.enter(depth, action.number);
    if (action.wireType === WIRE_GROUP) return this.#walk(child, end, action.number, depth);
    const stop = wire.length(end);
    return stop >= 0 && this.#walk(child, stop, 0, depth);
  }

  #scalar(action: InputAction, end: number): boolean {
    const wire = this.#wire;
    const values = this.#values;
    const { slot, presence } = action;
    switch (action.operation) {
      case "string":
        return this.#text(action, end);
      case "bytes": {
        const stop = wire.length(end);
        if (stop < 0) return false;
        values[slot] = presence || stop > wire.pos ? wire.bytes.subarray(wire.pos, stop) : undefined;
        wire.pos = stop;
        return true;
      }
      case "double":
      case "sfixed64":
      case "fixed64":
        if (!wire.fixed64(end)) return false;
        break;
      case "float":
      case "sfixed32":
      case "fixed32":
        if (!wire.fixed32(end)) return false;
        break;
      default:
        if (!wire.varint(end)) return false;
    }
    this.#number(action);
    return true;
  }

  #text(action: InputAction, end: number): boolean {
    const wire = this.#wire;
    const stop = wire.length(end);
    if (stop < 0) return false;
    const start = wire.pos;
    const text = textOf(wire.bytes, start, stop);
    if (text === undefined) return wire.fail("DECODE_UTF8", start);
    this.#values[action.slot] = action.presence || stop > start ? text : undefined;
    wire.pos = stop;
    return true;
  }

  /** Turns the 64 bits that were read into the input's value. */
  #number(action: InputAction): void {
    const wire = this.#wire;
    const { slot, operation } = action;
    if (operation === "seconds") this.#seconds[slot] = wire.hi * 2 ** 32 + (wire.lo >>> 0);
    else if (operation === "nanos") this.#nanos[slot] = wire.lo;
    else {
      const narrow = NARROW.has(operation);
      const zero = narrow ? wire.lo === 0 : wire.lo === 0 && wire.hi === 0;
      this.#values[slot] = zero && !action.presence ? undefined : numberOf(wire, operation);
    }
  }
}

/** Types of which only the low 32 bits count. */
const NARROW: ReadonlySet<string> = new Set(["int32", "uint32", "sint32", "enum", "fixed32", "sfixed32", "float"]);

function numberOf(wire: Wire, operation: InputAction["operation"]): InputValue {
  switch (operation) {
    case "double":
      return wire.double();
    case "float":
      return wire.float();
    case "bool":
      return wire.lo !== 0 || wire.hi !== 0;
    case "enum":
      return wire.lo;
    case "uint64":
    case "fixed64":
      return wire.uint64();
    case "sint64":
      wire.unzigzag64();
      return wire.int64();
    case "uint32":
    case "fixed32":
      return BigInt(wire.lo >>> 0);
    case "int32":
    case "sfixed32":
      return BigInt(wire.lo);
    case "sint32":
      return BigInt((wire.lo >>> 1) ^ -(wire.lo & 1));
    default:
      return wire.int64();
  }
}
