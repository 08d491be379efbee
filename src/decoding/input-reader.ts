import type { RecordFault } from "../core/fault.ts";
import type { InputValue } from "../ports/decoder.ts";
import { decodeFault } from "./faults.ts";
import { fastInputs } from "./input-fast.ts";
import type { FastInputs } from "./input-fast.ts";
import { ABSENT, CELL, CELL_AT, CELL_HIGH, CELL_STATE, PRESENT, PRESENT_UTF8, secondsOf } from "./input-cells.ts";
import type { InputCells } from "./input-cells.ts";
import type { InputAction, InputCell, InputNode, InputPlan } from "./input-plan.ts";
import { inputValues, integerOf } from "./input-values.ts";
import { WIRE_BYTES, WIRE_END_GROUP, WIRE_FIXED64, WIRE_GROUP, WIRE_VARINT } from "./schema.ts";
import { isText } from "./text.ts";
import { isTimestamp, timeFromMilliseconds } from "./time.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import type { Wire } from "./wire.ts";

/**
 * Reads a kind's inputs from wire data into cells: numbers as bits (zig-zag still folded), text and bytes as places in the
 * record. It allocates nothing, and passes over by wire type what no input needs. The cells are valid until the next record;
 * `inputValues` makes JavaScript values of them. Plain records take the short way of `FastInputs`.
 */
export class InputReader implements InputCells {
  readonly plan: InputPlan;
  /** {@link CELL} numbers per cell. */
  readonly cells: Int32Array;
  readonly #wire: Wire;
  /** Absent where another pass over the same record counts. */
  readonly #unknown: UnknownFields | undefined;
  readonly #fast: FastInputs | undefined;
  #groupEnded = false;

  constructor(plan: InputPlan, wire: Wire, unknown: UnknownFields | undefined) {
    this.plan = plan;
    this.#wire = wire;
    this.#unknown = unknown;
    this.cells = new Int32Array(plan.cells * CELL);
    this.#fast = fastInputs(plan);
  }

  /** Reads the record from the wire's position to the end of its bytes. Returns the fault, if there is one. */
  read(): RecordFault | undefined {
    return this.#fast?.fill(this.#wire.bytes, this.#wire.pos, this.cells) === true ? undefined : this.readFully();
  }

  /** Reads the record and makes the inputs' values. */
  values(): InputValue[] | RecordFault {
    const { bytes, pos } = this.#wire;
    return this.#fast?.values(bytes, pos) ?? this.readFully() ?? inputValues(this, bytes);
  }

  /** Does what {@link read} does without the short way, which must not make a difference. */
  readFully(): RecordFault | undefined {
    const wire = this.#wire;
    for (let index = 0; index < this.cells.length; index += 1) this.cells[index] = 0;
    return this.#walk(this.plan.root, wire.pos, wire.bytes.length, 0, 0) < 0 ? wire.fault() : this.#checkTimes();
  }

  #checkTimes(): RecordFault | undefined {
    const { times, inputs } = this.plan;
    for (const cell of times) {
      const input = inputs[cell];
      if (input === undefined || this.#validTime(input, cell)) continue;
      const at = this.cells[cell * CELL + CELL_AT] ?? 0;
      return decodeFault("DECODE_RANGE", at, input.path.join("."), "a time");
    }
    return undefined;
  }

  #validTime({ nanos, becomes }: InputCell, cell: number): boolean {
    const { cells } = this;
    if (cells[cell * CELL + CELL_STATE] === ABSENT) return true;
    if (nanos !== undefined) return isTimestamp(secondsOf(cells, cell), cells[nanos * CELL] ?? 0);
    const integer = integerOf(becomes, cells[cell * CELL] ?? 0, cells[cell * CELL + CELL_HIGH] ?? 0);
    return timeFromMilliseconds(integer) !== undefined;
  }

  /** Walks one message up to `end`, or up to the end of the group with that number. Returns where it ended, or −1. */
  #walk(node: InputNode, from: number, end: number, group: number, depth: number): number {
    let pos = from;
    while (pos < end) {
      pos = this.#field(node, pos, end, group, depth);
      if (pos < 0) return -1;
      if (this.#groupEnded) {
        this.#groupEnded = false;
        return pos;
      }
    }
    return group === 0 || this.#wire.fail("DECODE_GROUP", end) ? pos : -1;
  }

  /** Fills a cell. Returns `next`. */
  #store(offset: number, low: number, high: number, at: number, next: number): number {
    const { cells } = this;
    cells[offset] = low;
    cells[offset + CELL_HIGH] = high;
    cells[offset + CELL_AT] = at;
    cells[offset + CELL_STATE] = PRESENT;
    return next;
  }

  #within(number: number): number {
    this.#wire.within(number);
    return -1;
  }

  /** Reads any field. Returns where it ended, or −1. */
  #field(node: InputNode, at: number, end: number, group: number, depth: number): number {
    const wire = this.#wire;
    wire.pos = at;
    const tag = wire.tag(end);
    if (tag < 0) return -1;
    const number = tag >>> 3;
    if ((tag & 7) === WIRE_END_GROUP) {
      this.#groupEnded = number === group;
      return this.#groupEnded || wire.fail("DECODE_GROUP", at) ? wire.pos : -1;
    }
    const action = number < node.low.length ? node.low[number] : node.high.get(number);
    if (action === undefined) this.#unknown?.add(depth, number);
    const needed = action !== undefined && this.#isNeeded(action, tag & 7);
    const next = needed ? this.#needed(action, tag, at, end, depth) : this.#pass(tag, at, end, depth);
    return next < 0 ? this.#within(number) : next;
  }

  /** A field that feeds no input is passed over, even where its wire type does not fit: nobody reads it. */
  #isNeeded(action: InputAction, wireType: number): boolean {
    if (action.cell !== this.plan.waste || action.child !== undefined) return true;
    return action.clears.length > 0 && wireType === action.wireType;
  }

  #pass(tag: number, at: number, end: number, depth: number): number {
    return this.#wire.skip(tag, at, end, depth) ? this.#wire.pos : -1;
  }

  #needed(action: InputAction, tag: number, at: number, end: number, depth: number): number {
    const wire = this.#wire;
    const { wireType, known, child } = action;
    if ((tag & 7) !== wireType) return wire.fail("DECODE_WIRE_TYPE", at, `wire type ${tag & 7}`) ? 0 : -1;
    if (known !== undefined) return this.#closedEnum(action, known, at, end, depth);
    for (const cell of action.clears) this.#clear(cell);
    if (child !== undefined) {
      const stop = wireType === WIRE_GROUP ? end : wire.length(end);
      return stop < 0 ? -1 : this.#message(action, at, wire.pos, stop, depth + 1);
    }
    const offset = action.cell * CELL;
    if (wireType === WIRE_BYTES) return this.#bytes(action, at, end);
    if (wireType === WIRE_GROUP) return this.#pass(tag, at, end, depth);
    if (!this.#bits(wireType, end)) return -1;
    return this.#store(offset, wire.lo, wire.hi, at, wire.pos);
  }

  #bits(wireType: number, end: number): boolean {
    const wire = this.#wire;
    if (wireType === WIRE_VARINT) return wire.varint(end);
    return wireType === WIRE_FIXED64 ? wire.fixed64(end) : wire.fixed32(end);
  }

  #bytes(action: InputAction, at: number, end: number): number {
    const wire = this.#wire;
    const stop = wire.length(end);
    if (stop < 0) return -1;
    const start = wire.pos;
    if (action.text && !isText(wire.bytes, start, stop)) return wire.fail("DECODE_UTF8", start) ? 0 : -1;
    this.#store(action.cell * CELL, start, stop, at, stop);
    this.cells[action.cell * CELL + CELL_STATE] = PRESENT_UTF8;
    return stop;
  }

  /** Walks a message, or a group, that is on the way to an input. */
  #message(action: InputAction | undefined, at: number, start: number, end: number, depth: number): number {
    if (action?.child === undefined || depth > this.#wire.maxDepth) return this.#wire.fail("DECODE_DEPTH", at) ? 0 : -1;
    const { cell, child, number, wireType } = action;
    this.cells[cell * CELL + CELL_STATE] = PRESENT;
    this.#unknown?.enter(depth, number);
    const next = this.#walk(child, start, end, wireType === WIRE_GROUP ? number : 0, depth);
    this.cells[cell * CELL + CELL_AT] = at;
    return next;
  }

  /** A number that a closed enum does not have is an unknown field: it neither sets nor clears anything. */
  #closedEnum(action: InputAction, known: ReadonlyMap<number, string>, at: number, end: number, depth: number): number {
    const wire = this.#wire;
    if (!wire.varint(end)) return -1;
    if (!known.has(wire.lo)) {
      this.#unknown?.add(depth, action.number);
      return wire.pos;
    }
    for (const cell of action.clears) this.#clear(cell);
    return this.#store(action.cell * CELL, wire.lo, wire.hi, at, wire.pos);
  }

  #clear(cell: number): void {
    this.cells.fill(0, cell * CELL, (cell + 1) * CELL);
  }
}
