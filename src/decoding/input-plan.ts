import type { FieldPath, Mapping } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { InputType, KindInput } from "../ports/decoder.ts";
import { WIRE_BYTES, WIRE_GROUP, WIRE_TYPE_OF } from "./schema.ts";
import type { FieldSchema, MessageSchema, ScalarType } from "./schema.ts";

/** What the walker does with a field that it meets: numbers, since a jump by number is what costs least. */
export const SKIP = 0;
export const TEXT = 1;
export const BYTES = 2;
export const MESSAGE = 3;
/** An enum whose undeclared numbers are unknown fields. */
export const CLOSED_ENUM = 4;
/** From here on: numbers, by what the bits that were read become. */
export const SIGNED_64 = 5;
export const UNSIGNED_64 = 6;
export const ZIGZAG_64 = 7;
export const SIGNED_32 = 8;
export const UNSIGNED_32 = 9;
export const ZIGZAG_32 = 10;
export const BOOL = 11;
export const OPEN_ENUM = 12;
export const DOUBLE = 13;
export const FLOAT = 14;
/** Seconds and nanoseconds of a Timestamp. */
export const SECONDS = 15;
export const NANOS = 16;

const OPERATIONS: Readonly<Record<ScalarType, number>> = {
  string: TEXT,
  bytes: BYTES,
  int64: SIGNED_64,
  sfixed64: SIGNED_64,
  uint64: UNSIGNED_64,
  fixed64: UNSIGNED_64,
  sint64: ZIGZAG_64,
  int32: SIGNED_32,
  sfixed32: SIGNED_32,
  uint32: UNSIGNED_32,
  fixed32: UNSIGNED_32,
  sint32: ZIGZAG_32,
  bool: BOOL,
  enum: OPEN_ENUM,
  double: DOUBLE,
  float: FLOAT,
};

/** One field number of a message, as the walker sees it. */
export interface InputAction {
  readonly number: number;
  /** One of the constants above. */
  readonly operation: number;
  readonly wireType: number;
  /** Index of the input that the value goes to; −1 for none. For `message`: the time input that its presence sets. */
  readonly slot: number;
  /** Whether a zero counts as a value. */
  readonly presence: boolean;
  readonly child: InputNode | undefined;
  /** Inputs of the other members of the field's oneof: they are unset when this field comes. */
  readonly clears: readonly number[];
  /** Numbers of a closed enum. */
  readonly known: ReadonlyMap<number, string> | undefined;
}

/** A message on the way to an input, or a Timestamp that is one. */
export interface InputNode {
  /** By field number, for numbers below its length. */
  readonly low: readonly (InputAction | undefined)[];
  readonly high: ReadonlyMap<number, InputAction>;
}

/** A time input: from a Timestamp, or from an integer of milliseconds. */
export interface TimeInput {
  readonly slot: number;
  readonly path: FieldPath;
  readonly timestamp: boolean;
}

export interface InputPlan {
  readonly root: InputNode;
  readonly count: number;
  readonly times: readonly TimeInput[];
  /** The field that feeds each input; undefined for none. */
  readonly fields: readonly (FieldSchema | undefined)[];
}

/** Numbers below this are looked up in an array. */
const LOW_NUMBERS = 64;

/** Builds the error that a mapping is refused with. */
export function mappingInvalid(detail: string): StreamsError {
  return new StreamsError("MAPPING_INVALID", detail);
}

/**
 * The path of each input, in their order; undefined for one that nothing feeds, which only an optional input may be.
 * @throws StreamsError `MAPPING_INVALID`: an unknown input, a required input without a path, an empty path.
 */
export function pathsOf(inputs: readonly KindInput[], mapping: Mapping): readonly (FieldPath | undefined)[] {
  for (const name of Object.keys(mapping)) {
    if (!inputs.some((input) => input.name === name)) {
      const known = inputs.map((input) => input.name).join(", ");
      throw mappingInvalid(`"${name}" is no input of the kind; its inputs are: ${known === "" ? "none" : known}`);
    }
  }
  return inputs.map((input) => {
    const path = Object.hasOwn(mapping, input.name) ? mapping[input.name] : undefined;
    if (path === undefined && input.required) throw mappingInvalid(`the required input "${input.name}" has no path`);
    if (path?.length === 0) throw mappingInvalid(`the input "${input.name}" has an empty path`);
    return path;
  });
}

/** A node while the inputs are added. */
interface Draft {
  readonly message: MessageSchema;
  readonly children: Map<number, Draft>;
  readonly leaves: Map<number, { readonly slot: number; readonly input: KindInput }>;
}

/**
 * Compiles the inputs of a kind into a tree of actions.
 * @throws StreamsError `MAPPING_INVALID`: besides {@link pathsOf}, a path that leads to no field, to one of another
 * type, through a list or map, or to what another input reads.
 */
export function buildInputPlan(message: MessageSchema, inputs: readonly KindInput[], mapping: Mapping): InputPlan {
  const root: Draft = { message, children: new Map(), leaves: new Map() };
  const times: TimeInput[] = [];
  const fields: (FieldSchema | undefined)[] = inputs.map(() => undefined);
  for (const [slot, path] of pathsOf(inputs, mapping).entries()) {
    const input = inputs[slot];
    if (input === undefined || path === undefined) continue;
    const field = addInput(root, input, path, slot);
    fields[slot] = field;
    if (input.type === "time") times.push({ slot, path, timestamp: field.value.is === "message" });
  }
  return { root: nodeOf(root), count: inputs.length, times, fields };
}

function addInput(root: Draft, input: KindInput, path: FieldPath, slot: number): FieldSchema {
  let at = root;
  for (const [index, number] of path.entries()) {
    const field = at.message.byNumber.get(number);
    const place = `the input "${input.name}": path ${path.slice(0, index + 1).join(".")}`;
    if (field === undefined) throw mappingInvalid(`${place} leads to no field of ${at.message.fullName}`);
    if (field.repeated || field.mapKey !== undefined) throw mappingInvalid(`${place} is a list or map`);
    if (index === path.length - 1) {
      if (!fits(input.type, field)) throw mappingInvalid(`${place} (${typeName(field)}) is not of type ${input.type}`);
      if (at.leaves.has(number) || at.children.has(number)) throw mappingInvalid(`${place} feeds another input too`);
      at.leaves.set(number, { slot, input });
      return field;
    }
    if (field.value.is !== "message") throw mappingInvalid(`${place} (${typeName(field)}) is not a message`);
    if (at.leaves.has(number)) throw mappingInvalid(`${place} feeds another input too`);
    at = childOf(at, number, field.value.message);
  }
  throw mappingInvalid(`the input "${input.name}" has an empty path`);
}

function childOf(draft: Draft, number: number, message: MessageSchema): Draft {
  const found = draft.children.get(number);
  if (found !== undefined) return found;
  const made: Draft = { message, children: new Map(), leaves: new Map() };
  draft.children.set(number, made);
  return made;
}

export const TIMESTAMP = "google.protobuf.Timestamp";

const INTEGERS: ReadonlySet<string> = new Set([
  "int32",
  "int64",
  "uint32",
  "uint64",
  "sint32",
  "sint64",
  "fixed32",
  "fixed64",
  "sfixed32",
  "sfixed64",
]);

const SCALARS_OF: Readonly<Record<InputType, ReadonlySet<string>>> = {
  text: new Set(["string"]),
  bytes: new Set(["bytes"]),
  integer: INTEGERS,
  number: new Set(["double", "float"]),
  flag: new Set(["bool"]),
  enum: new Set(["enum"]),
  time: INTEGERS,
};

/** Whether a field can feed an input of the type. */
function fits(type: InputType, field: FieldSchema): boolean {
  const { value } = field;
  if (value.is === "message") return type === "time" && value.message.fullName === TIMESTAMP;
  return SCALARS_OF[type].has(value.type);
}

/** The field's type in words of the protobuf language. */
export function typeName(field: FieldSchema): string {
  const { value } = field;
  if (value.is === "message") return value.message.fullName;
  return value.is === "enum" ? value.enum.fullName : value.type;
}

function nodeOf(draft: Draft): InputNode {
  const actions = draft.message.fields.map((field) => actionOf(draft, field));
  return table(actions);
}

function table(actions: readonly InputAction[]): InputNode {
  const low: (InputAction | undefined)[] = [];
  const high = new Map<number, InputAction>();
  for (let number = 0; number < LOW_NUMBERS; number += 1) {
    low.push(actions.find((action) => action.number === number));
  }
  for (const action of actions) if (action.number >= LOW_NUMBERS) high.set(action.number, action);
  return { low, high };
}

function actionOf(draft: Draft, field: FieldSchema): InputAction {
  const leaf = draft.leaves.get(field.number);
  const child = draft.children.get(field.number);
  const clears = clearedBy(draft, field);
  const { value, number } = field;
  const base = { number, slot: -1, presence: field.presence, child: undefined, clears, known: undefined };
  if (value.is === "message") {
    const wireType = value.delimited ? WIRE_GROUP : WIRE_BYTES;
    if (leaf !== undefined) {
      return { ...base, operation: MESSAGE, wireType, slot: leaf.slot, child: timestampNode(leaf.slot) };
    }
    if (child !== undefined) return { ...base, operation: MESSAGE, wireType, child: nodeOf(child) };
    return { ...base, operation: SKIP, wireType };
  }
  const wireType = WIRE_TYPE_OF[value.type];
  const slot = leaf?.slot ?? -1;
  if (value.is === "enum" && value.enum.closed && (slot >= 0 || clears.length > 0)) {
    return { ...base, operation: CLOSED_ENUM, wireType, slot, known: value.enum.names };
  }
  return { ...base, operation: leaf === undefined ? SKIP : OPERATIONS[value.type], wireType, slot };
}

/** The two fields of a Timestamp, which both belong to one input. */
function timestampNode(slot: number): InputNode {
  const base = { wireType: 0, slot, presence: true, child: undefined, clears: [], known: undefined };
  return table([
    { ...base, number: 1, operation: SECONDS },
    { ...base, number: 2, operation: NANOS },
  ]);
}

function clearedBy(draft: Draft, field: FieldSchema): readonly number[] {
  if (field.oneof === undefined) return [];
  const slots: number[] = [];
  for (const other of draft.message.fields) {
    if (other.oneof === field.oneof && other !== field) slots.push(...slotsBelow(draft, other.number));
  }
  return slots;
}

function slotsBelow(draft: Draft, number: number): number[] {
  const leaf = draft.leaves.get(number);
  if (leaf !== undefined) return [leaf.slot];
  const child = draft.children.get(number);
  if (child === undefined) return [];
  return child.message.fields.flatMap((field) => slotsBelow(child, field.number));
}
