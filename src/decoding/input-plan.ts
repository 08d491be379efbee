import type { FieldPath, Mapping } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { InputType, KindInput } from "../ports/decoder.ts";
import { WIRE_BYTES, WIRE_GROUP, WIRE_TYPE_OF, WIRE_VARINT } from "./schema.ts";
import type { FieldSchema, MessageSchema, ScalarType } from "./schema.ts";

/** One field number of a message, as the reader sees it. */
export interface InputAction {
  readonly number: number;
  readonly wireType: number;
  /** Cell that the value goes to; that of what nobody needs is {@link InputPlan.waste}. */
  readonly cell: number;
  /** Whether the bytes must be UTF-8. */
  readonly text: boolean;
  /** For a message that is walked. */
  readonly child: InputNode | undefined;
  /** Whether the field needs more than storing its bits: a group, a closed enum, a member of a oneof. */
  readonly rare: boolean;
  /** Cells of the other members of the field's oneof: they are unset when this field comes. */
  readonly clears: readonly number[];
  /** Numbers of a closed enum: others are unknown fields. */
  readonly known: ReadonlyMap<number, string> | undefined;
}

/** A message on the way to an input, or a Timestamp that is one. */
export interface InputNode {
  /** By field number, for numbers below its length. */
  readonly low: readonly (InputAction | undefined)[];
  readonly high: ReadonlyMap<number, InputAction>;
}

/** How the content of a cell is to be read. */
export type Becomes =
  | "text"
  | "bytes"
  | "timestamp"
  | "flag"
  | "enum"
  | "double"
  | "float"
  | "signed64"
  | "unsigned64"
  | "zigzag64"
  | "signed32"
  | "unsigned32"
  | "zigzag32";

const BECOMES: Readonly<Record<ScalarType, Becomes>> = {
  string: "text",
  bytes: "bytes",
  bool: "flag",
  enum: "enum",
  double: "double",
  float: "float",
  int64: "signed64",
  sfixed64: "signed64",
  uint64: "unsigned64",
  fixed64: "unsigned64",
  sint64: "zigzag64",
  int32: "signed32",
  sfixed32: "signed32",
  uint32: "unsigned32",
  fixed32: "unsigned32",
  sint32: "zigzag32",
};

/** One input of the kind: what its cell becomes. */
export interface InputCell {
  readonly input: KindInput;
  /** The field that feeds it; undefined for none. */
  readonly field: FieldSchema | undefined;
  readonly path: FieldPath;
  /** What the cell's content becomes. */
  readonly becomes: Becomes;
  /** Whether a zero counts as a value. */
  readonly presence: boolean;
  /** Whether an integer is a time in milliseconds. */
  readonly milliseconds: boolean;
  /** Of a Timestamp: the cell of its nanoseconds. */
  readonly nanos: number | undefined;
}

export interface InputPlan {
  readonly root: InputNode;
  /** By index of the kind's inputs, which is also the index of their cells. */
  readonly inputs: readonly InputCell[];
  /** The cell for what nobody needs. */
  readonly waste: number;
  /** Cells of time inputs. */
  readonly times: readonly number[];
  /** How many cells there are: inputs, nanoseconds, waste. */
  readonly cells: number;
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
  readonly leaves: Map<number, { readonly cell: number; readonly nanos: number | undefined }>;
}

/**
 * Compiles the inputs of a kind into a tree of actions.
 * @throws StreamsError `MAPPING_INVALID`: besides {@link pathsOf}, a path that leads to no field, to one of another
 * type, through a list or map, or to what another input reads.
 */
export function buildInputPlan(message: MessageSchema, inputs: readonly KindInput[], mapping: Mapping): InputPlan {
  const root: Draft = { message, children: new Map(), leaves: new Map() };
  const cells: InputCell[] = [];
  let next = inputs.length;
  for (const [cell, path] of pathsOf(inputs, mapping).entries()) {
    const input = inputs[cell];
    if (input === undefined) continue;
    const nanos = input.type === "time" ? next++ : undefined;
    const field = path === undefined ? undefined : addInput(root, input, path, { cell, nanos });
    const timestamp = field?.value.is === "message";
    cells.push({
      input,
      field,
      path: path ?? [],
      becomes: field === undefined || field.value.is === "message" ? "timestamp" : BECOMES[field.value.type],
      presence: field?.presence ?? false,
      milliseconds: input.type === "time" && !timestamp,
      nanos: timestamp ? nanos : undefined,
    });
  }
  const times = cells.flatMap(({ nanos, milliseconds }, cell) => (nanos !== undefined || milliseconds ? [cell] : []));
  return { root: nodeOf(root, next), inputs: cells, times, waste: next, cells: next + 1 };
}

function addInput(
  root: Draft,
  input: KindInput,
  path: FieldPath,
  leaf: { cell: number; nanos: number | undefined },
): FieldSchema {
  let at = root;
  for (const [index, number] of path.entries()) {
    const field = at.message.byNumber.get(number);
    const place = `the input "${input.name}": path ${path.slice(0, index + 1).join(".")}`;
    if (field === undefined) throw mappingInvalid(`${place} leads to no field of ${at.message.fullName}`);
    if (field.repeated || field.mapKey !== undefined) throw mappingInvalid(`${place} is a list or map`);
    if (index === path.length - 1) {
      if (!fits(input.type, field)) throw mappingInvalid(`${place} (${typeName(field)}) is not of type ${input.type}`);
      if (at.leaves.has(number) || at.children.has(number)) throw mappingInvalid(`${place} feeds another input too`);
      at.leaves.set(number, leaf);
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

function nodeOf(draft: Draft, waste: number): InputNode {
  return table(draft.message.fields.map((field) => actionOf(draft, field, waste)));
}

function table(actions: readonly InputAction[]): InputNode {
  const low: (InputAction | undefined)[] = Array.from({ length: LOW_NUMBERS }, () => undefined);
  const high = new Map<number, InputAction>();
  for (const action of actions) {
    if (action.number >= LOW_NUMBERS) high.set(action.number, action);
    else low[action.number] = action;
  }
  return { low, high };
}

function actionOf(draft: Draft, field: FieldSchema, waste: number): InputAction {
  const leaf = draft.leaves.get(field.number);
  const child = draft.children.get(field.number);
  const clears = clearedBy(draft, field);
  const { value, number } = field;
  const closed = value.is === "enum" && value.enum.closed && (leaf !== undefined || clears.length > 0);
  const wireType = value.is !== "message" ? WIRE_TYPE_OF[value.type] : value.delimited ? WIRE_GROUP : WIRE_BYTES;
  return {
    number,
    wireType,
    cell: leaf?.cell ?? waste,
    text: leaf !== undefined && value.is === "scalar" && value.type === "string",
    child:
      leaf?.nanos !== undefined && value.is === "message"
        ? timestampNode(leaf.cell, leaf.nanos)
        : child && nodeOf(child, waste),
    rare: closed || clears.length > 0 || wireType === WIRE_GROUP,
    clears,
    known: closed ? value.enum.names : undefined,
  };
}

/** The two fields of a Timestamp. */
function timestampNode(seconds: number, nanos: number): InputNode {
  const base = { wireType: WIRE_VARINT, text: false, child: undefined, rare: false, clears: [], known: undefined };
  return table([
    { ...base, number: 1, cell: seconds },
    { ...base, number: 2, cell: nanos },
  ]);
}

function clearedBy(draft: Draft, field: FieldSchema): readonly number[] {
  if (field.oneof === undefined) return [];
  return mappedNumbers(draft).flatMap((number) => {
    const member = number !== field.number && draft.message.byNumber.get(number)?.oneof === field.oneof;
    return member ? cellsBelow(draft, number) : [];
  });
}

/** Numbers of the fields that are inputs or lead to some. */
function mappedNumbers({ leaves, children }: Draft): number[] {
  return [...leaves.keys(), ...children.keys()];
}

function cellsBelow(draft: Draft, number: number): number[] {
  const leaf = draft.leaves.get(number);
  if (leaf !== undefined) return leaf.nanos === undefined ? [leaf.cell] : [leaf.cell, leaf.nanos];
  const child = draft.children.get(number);
  if (child === undefined) return [];
  return mappedNumbers(child).flatMap((below) => cellsBelow(child, below));
}
