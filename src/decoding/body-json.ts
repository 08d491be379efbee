import type { BodyField, BodyPlan, BodyPlans } from "./body-plan.ts";
import { BodyScalars } from "./body-scalars.ts";
import { BodyNode } from "./body-node.ts";
import type { MapValue, Slot } from "./body-node.ts";
import type { BodyTree } from "./body-tree.ts";
import { fieldMaskText } from "./field-mask.ts";
import type { JsonSink } from "./json-sink.ts";
import { durationText, isDuration, isTimestamp, timestampText } from "./time.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import type { Wire } from "./wire.ts";

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Writes a message as canonical proto3 JSON (https://protobuf.dev/programming-guides/json/). Fields come in the order of
 * their numbers and map entries by the UTF-8 bytes of their keys, so that equal messages give equal bytes.
 * Methods return false once the wire has a fault.
 */
export class BodyJson {
  readonly #wire: Wire;
  readonly #sink: JsonSink;
  readonly #scalars: BodyScalars;
  readonly #tree: BodyTree;
  readonly #plans: BodyPlans;
  readonly #unknown: UnknownFields;

  constructor(wire: Wire, sink: JsonSink, tree: BodyTree, plans: BodyPlans, unknown: UnknownFields) {
    this.#wire = wire;
    this.#sink = sink;
    this.#scalars = new BodyScalars(wire, sink);
    this.#tree = tree;
    this.#plans = plans;
    this.#unknown = unknown;
  }

  /** Writes one message. `depth` is that of the message, 0 for the record's own. */
  write(node: BodyNode, depth: number): boolean {
    switch (node.plan.special) {
      case undefined: {
        this.#sink.byte(OPEN_OBJECT);
        if (!this.#members(node, depth, true)) return false;
        this.#sink.byte(CLOSE_OBJECT);
        return true;
      }
      case "any":
        return this.#any(node, depth);
      case "timestamp":
      case "duration":
        return this.#time(node, node.plan.special);
      case "field-mask":
        return this.#fieldMask(node);
      case "struct":
        return this.#onlyField(node, depth, "{}");
      case "list":
        return this.#onlyField(node, depth, "[]");
      case "wrapper":
        return this.#onlyField(node, depth, node.plan.fields[0]?.value.zero ?? "null");
      case "value":
        return this.#value(node, depth);
    }
    return false;
  }

  #members(node: BodyNode, depth: number, first: boolean): boolean {
    let comma = !first;
    for (const field of node.fields()) {
      const slot = node.get(field.index);
      if (slot === undefined) {
        if (field.required) {
          this.#wire.fail("DECODE_REQUIRED", node.at);
          return this.#wire.within(field.number);
        }
        continue;
      }
      if (!field.presence && typeof slot === "number" && this.#scalars.isZero(field.value.type, slot)) continue;
      if (comma) this.#sink.byte(COMMA);
      comma = true;
      this.#sink.raw(field.label);
      if (!this.#slot(field, slot, depth)) return this.#wire.within(field.number);
    }
    return true;
  }

  #slot(field: BodyField, slot: Slot, depth: number): boolean {
    if (slot instanceof Map) return this.#map(field, slot, depth);
    if (Array.isArray(slot)) return this.#list(field, slot, depth);
    return this.#single(field, slot, depth);
  }

  #single(field: BodyField, value: MapValue, depth: number): boolean {
    if (value instanceof BodyNode) {
      this.#unknown.enter(depth + 1, field.number);
      return this.write(value, depth + 1);
    }
    if (value === undefined) this.#sink.ascii(field.value.zero);
    else this.#scalars.write(field.value, value);
    return true;
  }

  #list(field: BodyField, list: readonly (number | BodyNode)[], depth: number): boolean {
    this.#sink.byte(OPEN_ARRAY);
    for (const [index, value] of list.entries()) {
      if (index > 0) this.#sink.byte(COMMA);
      if (!this.#single(field, value, depth)) return false;
    }
    this.#sink.byte(CLOSE_ARRAY);
    return true;
  }

  #map(field: BodyField, map: ReadonlyMap<string, MapValue>, depth: number): boolean {
    this.#sink.byte(OPEN_OBJECT);
    this.#unknown.enter(depth + 1, field.number);
    let comma = false;
    for (const key of [...map.keys()].toSorted(compareText)) {
      if (comma) this.#sink.byte(COMMA);
      comma = true;
      this.#sink.text(key);
      this.#sink.byte(COLON);
      const value = map.get(key);
      const message = field.value.message;
      const written =
        value === undefined && message !== undefined
          ? this.write(new BodyNode(message, 0), depth + 2)
          : this.#entry(field, value, depth + 1);
      if (!written) return false;
    }
    this.#sink.byte(CLOSE_OBJECT);
    return true;
  }

  /** The value of a map entry is field 2 of a message of its own. */
  #entry(field: BodyField, value: MapValue, depth: number): boolean {
    if (!(value instanceof BodyNode)) return this.#single(field, value, depth);
    this.#unknown.enter(depth + 1, 2);
    return this.write(value, depth + 1) || this.#wire.within(2);
  }

  /** Struct, ListValue and wrappers are written as their one field. */
  #onlyField(node: BodyNode, depth: number, absent: string): boolean {
    const [field] = node.plan.fields;
    const slot = node.get(0);
    if (field !== undefined && slot !== undefined)
      return this.#slot(field, slot, depth) || this.#wire.within(field.number);
    this.#sink.ascii(absent);
    return true;
  }

  #value(node: BodyNode, depth: number): boolean {
    for (const field of node.plan.fields) {
      const slot = node.get(field.index);
      if (slot === undefined) continue;
      if (field.value.type === "double" && typeof slot === "number") {
        // JSON numbers have no NaN or infinity, and here a string would be another value.
        if (!Number.isFinite(this.#scalars.double(slot))) {
          this.#wire.fail("DECODE_RANGE", slot, "a Value that is not finite");
          return this.#wire.within(field.number);
        }
      }
      return this.#slot(field, slot, depth) || this.#wire.within(field.number);
    }
    return this.#wire.fail("DECODE_RANGE", node.at, "a Value without a kind");
  }

  #time(node: BodyNode, form: "timestamp" | "duration"): boolean {
    const seconds = this.#scalars.int64(node.get(0));
    const nanos = this.#scalars.int32(node.get(1));
    const valid = form === "timestamp" ? isTimestamp(seconds, nanos) : isDuration(seconds, nanos);
    if (!valid) return this.#wire.fail("DECODE_RANGE", node.at, `a ${form}`);
    const text = form === "timestamp" ? timestampText(seconds, nanos) : durationText(seconds, nanos);
    this.#sink.ascii(`"${text}"`);
    return true;
  }

  #fieldMask(node: BodyNode): boolean {
    const slot = node.get(0);
    const paths: string[] = [];
    for (const at of Array.isArray(slot) ? slot : []) {
      if (typeof at !== "number") continue;
      const text = fieldMaskText(this.#scalars.text(at));
      if (text === undefined) return this.#wire.fail("DECODE_RANGE", at, "a FieldMask path") || this.#wire.within(1);
      paths.push(text);
    }
    this.#sink.text(paths.join(","));
    return true;
  }

  /** An Any is written as what it holds, with its type's address in front. */
  #any(node: BodyNode, depth: number): boolean {
    const [urlAt, valueAt] = [node.get(0), node.get(1)];
    const url = typeof urlAt === "number" ? this.#scalars.text(urlAt) : "";
    const hasValue = typeof valueAt === "number" && !this.#scalars.isZero("bytes", valueAt);
    if (url === "" && !hasValue) {
      this.#sink.ascii("{}");
      return true;
    }
    const slash = url.lastIndexOf("/");
    const plan = slash < 0 ? undefined : this.#plans.named(url.slice(slash + 1));
    if (plan === undefined) return this.#wire.fail("DECODE_ANY", node.at);
    this.#sink.ascii('{"@type":');
    this.#sink.text(url);
    if (!this.#anyValue(plan, typeof valueAt === "number" ? valueAt : undefined, node.at, depth + 1)) {
      return this.#wire.within(2);
    }
    this.#sink.byte(CLOSE_OBJECT);
    return true;
  }

  #anyValue(plan: BodyPlan, valueAt: number | undefined, at: number, depth: number): boolean {
    if (depth > this.#wire.maxDepth) return this.#wire.fail("DECODE_DEPTH", at);
    const held = new BodyNode(plan, valueAt ?? at);
    this.#unknown.enter(depth, 2);
    if (valueAt !== undefined) {
      const end = this.#scalars.enter(valueAt);
      if (!this.#tree.walk(plan, held, end, 0, depth)) return false;
    }
    if (plan.special === undefined) return this.#members(held, depth, false);
    this.#sink.ascii(',"value":');
    return this.write(held, depth);
  }
}

/** Orders text by its UTF-8 bytes, which is the order of code points and not that of UTF-16 units. */
function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = rank(a.charCodeAt(index)) - rank(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Moves surrogates behind the units from U+E000 on. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
