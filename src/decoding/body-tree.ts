import { BodyNode, cellsOf } from "./body-node.ts";
import type { MapValue } from "./body-node.ts";
import type { BodyField, BodyPlan, BodyValue } from "./body-plan.ts";
import { WIRE_BYTES, WIRE_END_GROUP, WIRE_GROUP, WIRE_TYPE_OF } from "./schema.ts";
import { decimalText } from "./scalar-text.ts";
import { isText, textOf } from "./text.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import type { Wire } from "./wire.ts";

/**
 * Reads whole messages by the merging rules of protobuf (the last scalar stands, messages merge, lists append, a oneof
 * holds its last member) and checks every field that the descriptor knows. Methods return false once the wire has a fault.
 */
export class BodyTree {
  readonly #wire: Wire;
  readonly #unknown: UnknownFields;
  readonly #maxCells: number;
  #cells = 0;

  /** `maxCells` bounds what one record may take in memory, in cells of about eight bytes. */
  constructor(wire: Wire, unknown: UnknownFields, maxCells: number) {
    this.#wire = wire;
    this.#unknown = unknown;
    this.#maxCells = maxCells;
  }

  /** Begins a record. */
  begin(): void {
    this.#cells = 0;
  }

  #spend(cells: number, at: number): boolean {
    this.#cells += cells;
    return this.#cells <= this.#maxCells || this.#wire.fail("DECODE_BODY_SIZE", at, "too many parts");
  }

  /**
   * Walks one message up to `end`, or up to the end of the group with that number. Without a node it only checks.
   * `depth` is that of the message, 0 for the record's own.
   */
  walk(plan: BodyPlan, node: BodyNode | undefined, end: number, group: number, depth: number): boolean {
    const wire = this.#wire;
    while (wire.pos < end) {
      const at = wire.pos;
      const tag = wire.tag(end);
      if (tag < 0) return false;
      const number = tag >>> 3;
      if ((tag & 7) === WIRE_END_GROUP) return number === group || wire.fail("DECODE_GROUP", at);
      const field = number < plan.low.length ? plan.low[number] : plan.high.get(number);
      if (field === undefined) {
        this.#unknown.add(depth, number);
        if (!wire.skip(tag, at, end, depth)) return wire.within(number);
      } else if (!this.#field(field, node, tag & 7, at, end, depth)) return wire.within(number);
    }
    return group === 0 || wire.fail("DECODE_GROUP", end);
  }

  #field(
    field: BodyField,
    node: BodyNode | undefined,
    wireType: number,
    at: number,
    end: number,
    depth: number,
  ): boolean {
    if (field.shape === "map") {
      return wireType === WIRE_BYTES ? this.#entry(field, node, at, end, depth) : this.#mismatch(wireType, at);
    }
    if (wireType !== field.value.wireType) {
      if (wireType === WIRE_BYTES && field.packable) return this.#packed(field, node, end, depth);
      return this.#mismatch(wireType, at);
    }
    if (field.value.message !== undefined) return this.#message(field, field.value.message, node, at, end, depth + 1);
    return this.#scalar(field, node, end, depth);
  }

  #mismatch(wireType: number, at: number): false {
    return this.#wire.fail("DECODE_WIRE_TYPE", at, `wire type ${wireType}`);
  }

  #scalar(field: BodyField, node: BodyNode | undefined, end: number, depth: number): boolean {
    const start = this.#wire.pos;
    if (!this.#pass(field.value.type, end)) return false;
    if (field.value.known?.has(this.#wire.lo) === false) this.#unknown.add(depth, field.number);
    else if (node !== undefined) return this.#put(node, field, start);
    return true;
  }

  /** Passes over one scalar and checks it. */
  #pass(type: BodyValue["type"], end: number): boolean {
    const wire = this.#wire;
    switch (type) {
      case "string":
      case "bytes": {
        const stop = wire.length(end);
        if (stop < 0) return false;
        if (type === "string" && !isText(wire.bytes, wire.pos, stop)) return wire.fail("DECODE_UTF8", wire.pos);
        wire.pos = stop;
        return true;
      }
      default:
        return wire.scalar(type, end);
    }
  }

  #packed(field: BodyField, node: BodyNode | undefined, end: number, depth: number): boolean {
    const stop = this.#wire.length(end);
    if (stop < 0) return false;
    while (this.#wire.pos < stop) if (!this.#scalar(field, node, stop, depth)) return false;
    return true;
  }

  #message(
    field: BodyField,
    plan: BodyPlan,
    node: BodyNode | undefined,
    at: number,
    end: number,
    depth: number,
  ): boolean {
    const wire = this.#wire;
    if (depth > wire.maxDepth) return wire.fail("DECODE_DEPTH", at);
    const child = node === undefined ? undefined : childOf(node, field, plan, at);
    if (child !== undefined && !this.#spend(cellsOf(plan), at)) return false;
    this.#unknown.enter(depth, field.number);
    if (field.value.wireType === WIRE_GROUP) return this.walk(plan, child, end, field.number, depth);
    const stop = wire.length(end);
    return stop >= 0 && this.walk(plan, child, stop, 0, depth);
  }

  /**
   * A map entry is a message with the key as field 1 and the value as field 2; either may be missing and stands for its
   * zero then. The last entry of a key stands. An entry with an undeclared number of a closed enum is an unknown field.
   */
  #entry(field: BodyField, node: BodyNode | undefined, at: number, mapEnd: number, mapDepth: number): boolean {
    const wire = this.#wire;
    const depth = mapDepth + 1;
    const end = wire.length(mapEnd);
    if (end < 0) return false;
    if (depth > wire.maxDepth) return wire.fail("DECODE_DEPTH", at);
    this.#unknown.enter(depth, field.number);
    const entry: Entry = { key: zeroKey(field.mapKey), value: undefined, known: true, kept: node !== undefined };
    while (wire.pos < end) {
      const tagAt = wire.pos;
      const tag = wire.tag(end);
      if (tag < 0) return false;
      if (!this.#entryField(field, entry, tag, tagAt, end, depth)) return wire.within(tag >>> 3);
    }
    if (!entry.known) this.#unknown.add(mapDepth, field.number);
    else if (node !== undefined) {
      entriesOf(node, field).set(entry.key, entry.value);
      return this.#spend(ENTRY_CELLS, at);
    }
    return true;
  }

  #put(node: BodyNode, field: BodyField, value: number): boolean {
    if (field.shape !== "repeated") {
      node.set(field, value);
      return true;
    }
    listOf(node, field).push(value);
    return this.#spend(1, value);
  }

  #entryField(field: BodyField, entry: Entry, tag: number, at: number, end: number, depth: number): boolean {
    const wire = this.#wire;
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (wireType === WIRE_END_GROUP) return wire.fail("DECODE_GROUP", at);
    if (number === 1) return this.#entryKey(field, entry, wireType, at, end);
    if (number !== 2) {
      this.#unknown.add(depth, number);
      return wire.skip(tag, at, end, depth);
    }
    if (wireType !== field.value.wireType) return this.#mismatch(wireType, at);
    const plan = field.value.message;
    if (plan === undefined) {
      entry.value = wire.pos;
      if (!this.#pass(field.value.type, end)) return false;
      entry.known = field.value.known?.has(wire.lo) !== false;
      return true;
    }
    if (depth + 1 > wire.maxDepth) return wire.fail("DECODE_DEPTH", at);
    const child = entry.kept ? this.#entryChild(entry, plan, at) : undefined;
    if (child !== undefined && !this.#spend(cellsOf(plan), at)) return false;
    this.#unknown.enter(depth + 1, number);
    const stop = wire.length(end);
    return stop >= 0 && this.walk(plan, child, stop, 0, depth + 1);
  }

  #entryChild(entry: Entry, plan: BodyPlan, at: number): BodyNode {
    if (entry.value instanceof BodyNode) return entry.value;
    const child = new BodyNode(plan, at);
    entry.value = child;
    return child;
  }

  #entryKey(field: BodyField, entry: Entry, wireType: number, at: number, end: number): boolean {
    const wire = this.#wire;
    const type = field.mapKey ?? "string";
    if (wireType !== WIRE_TYPE_OF[type]) return this.#mismatch(wireType, at);
    if (type === "string") {
      const stop = wire.length(end);
      if (stop < 0) return false;
      const text = textOf(wire.bytes, wire.pos, stop);
      if (text === undefined) return wire.fail("DECODE_UTF8", wire.pos);
      entry.key = text;
      wire.pos = stop;
      return true;
    }
    if (!wire.scalar(type, end)) return false;
    entry.key = decimalText(wire, type);
    return true;
  }
}

/** What an entry of a map costs beside its value. */
const ENTRY_CELLS = 8;

interface Entry {
  key: string;
  value: MapValue;
  known: boolean;
  /** Whether anybody wants the value, or it is only checked. */
  readonly kept: boolean;
}

function childOf(node: BodyNode, field: BodyField, plan: BodyPlan, at: number): BodyNode {
  const present = node.get(field.index);
  if (field.shape === "single" && present instanceof BodyNode) return present;
  const child = new BodyNode(plan, at);
  if (field.shape === "repeated") listOf(node, field).push(child);
  else node.set(field, child);
  return child;
}

function listOf(node: BodyNode, field: BodyField): (number | BodyNode)[] {
  const present = node.get(field.index);
  if (Array.isArray(present)) return present;
  const list: (number | BodyNode)[] = [];
  node.set(field, list);
  return list;
}

function entriesOf(node: BodyNode, field: BodyField): Map<string, MapValue> {
  const present = node.get(field.index);
  if (present instanceof Map) return present;
  const entries = new Map<string, MapValue>();
  node.set(field, entries);
  return entries;
}

function zeroKey(type: BodyField["mapKey"]): string {
  if (type === "string") return "";
  return type === "bool" ? "false" : "0";
}
