import { WIRE_BYTES, WIRE_GROUP, WIRE_TYPE_OF } from "./schema.ts";
import type { EnumSchema, FieldSchema, MessageSchema, ScalarType } from "./schema.ts";

/** Messages whose JSON form is not an object of their fields: https://protobuf.dev/programming-guides/json/. */
export type SpecialForm =
  | "any"
  | "duration"
  | "field-mask"
  | "list"
  | "struct"
  | "timestamp"
  | "value"
  | "wrapper"
  | undefined;

const SPECIAL_FORMS: ReadonlyMap<string, SpecialForm> = new Map([
  ["google.protobuf.Any", "any"],
  ["google.protobuf.Duration", "duration"],
  ["google.protobuf.FieldMask", "field-mask"],
  ["google.protobuf.ListValue", "list"],
  ["google.protobuf.Struct", "struct"],
  ["google.protobuf.Timestamp", "timestamp"],
  ["google.protobuf.Value", "value"],
  ["google.protobuf.DoubleValue", "wrapper"],
  ["google.protobuf.FloatValue", "wrapper"],
  ["google.protobuf.Int64Value", "wrapper"],
  ["google.protobuf.UInt64Value", "wrapper"],
  ["google.protobuf.Int32Value", "wrapper"],
  ["google.protobuf.UInt32Value", "wrapper"],
  ["google.protobuf.BoolValue", "wrapper"],
  ["google.protobuf.StringValue", "wrapper"],
  ["google.protobuf.BytesValue", "wrapper"],
]);

/** The special form of a message, by its full name; undefined for an object of its fields. */
export function specialForm(fullName: string): SpecialForm {
  return SPECIAL_FORMS.get(fullName);
}

/** How a single value is read and written. */
export interface BodyValue {
  readonly type: ScalarType | "message";
  readonly wireType: number;
  /** Of an enum: the JSON text of each declared number. */
  readonly enumTexts: ReadonlyMap<number, string> | undefined;
  /** Of a closed enum: numbers beside these are unknown fields. */
  readonly known: ReadonlyMap<number, string> | undefined;
  /** What is written for a map's value or a wrapper that is not there. */
  readonly zero: string;
  readonly message: BodyPlan | undefined;
}

export interface BodyField {
  readonly number: number;
  /** Index in {@link BodyPlan.fields} and in a node. */
  readonly index: number;
  readonly value: BodyValue;
  readonly shape: "single" | "repeated" | "map";
  /** Whether a list of the type may come packed. */
  readonly packable: boolean;
  readonly mapKey: Exclude<ScalarType, "enum"> | undefined;
  readonly presence: boolean;
  readonly required: boolean;
  /** The oneof that it belongs to. */
  readonly oneof: number | undefined;
  /** `"jsonName":` as UTF-8. */
  readonly label: Uint8Array;
}

export interface BodyPlan {
  readonly fullName: string;
  readonly special: SpecialForm;
  /** By ascending number: the order in which they are written. */
  readonly fields: readonly BodyField[];
  /** By number, for numbers below its length. */
  readonly low: readonly (BodyField | undefined)[];
  readonly high: ReadonlyMap<number, BodyField>;
  /** Whether there are so many fields that a message holds only those that came. */
  readonly wide: boolean;
  /** Indexes of required fields. */
  readonly required: readonly number[];
}

/** A plan while its fields are collected. */
interface Draft extends BodyPlan {
  readonly fields: BodyField[];
  readonly low: (BodyField | undefined)[];
  readonly high: Map<number, BodyField>;
}

/** From this many fields on a message is wide. */
const WIDE_FIELDS = 64;

const LOW_NUMBERS = 64;

/** Makes body plans, one per message; recursive types refer to the same plan. */
export class BodyPlans {
  readonly #plans = new Map<MessageSchema, BodyPlan>();
  /** Plans that have no fields yet: types may hold one another over any number of steps. */
  readonly #open: (readonly [MessageSchema, Draft])[] = [];
  readonly #find: (fullName: string) => MessageSchema | undefined;

  /** `find` looks up the messages that an Any may hold. */
  constructor(find: (fullName: string) => MessageSchema | undefined) {
    this.#find = find;
  }

  named(fullName: string): BodyPlan | undefined {
    const message = this.#find(fullName);
    return message === undefined ? undefined : this.of(message);
  }

  of(message: MessageSchema): BodyPlan {
    const plan = this.#begun(message);
    for (let open = this.#open.pop(); open !== undefined; open = this.#open.pop()) this.#complete(...open);
    return plan;
  }

  #begun(message: MessageSchema): BodyPlan {
    const found = this.#plans.get(message);
    if (found !== undefined) return found;
    const plan: Draft = {
      fullName: message.fullName,
      special: specialForm(message.fullName),
      fields: [],
      low: Array.from({ length: LOW_NUMBERS }, () => undefined),
      high: new Map(),
      wide: message.fields.length >= WIDE_FIELDS,
      required: message.fields.flatMap((field, index) => (field.required ? [index] : [])),
    };
    this.#plans.set(message, plan);
    this.#open.push([message, plan]);
    return plan;
  }

  #complete(message: MessageSchema, { fields, low, high }: Draft): void {
    for (const [index, field] of message.fields.entries()) {
      const planned = this.#field(field, index);
      fields.push(planned);
      if (field.number < LOW_NUMBERS) low[field.number] = planned;
      else high.set(field.number, planned);
    }
  }

  #field(field: FieldSchema, index: number): BodyField {
    const value = this.#value(field);
    return {
      number: field.number,
      index,
      value,
      shape: field.mapKey === undefined ? (field.repeated ? "repeated" : "single") : "map",
      packable: field.repeated && value.wireType !== WIRE_BYTES && value.wireType !== WIRE_GROUP,
      mapKey: field.mapKey,
      presence: field.presence,
      required: field.required,
      oneof: field.oneof,
      label: Buffer.from(`${JSON.stringify(field.jsonName)}:`),
    };
  }

  #value({ value }: FieldSchema): BodyValue {
    if (value.is === "message") {
      const wireType = value.delimited ? WIRE_GROUP : WIRE_BYTES;
      const message = this.#begun(value.message);
      return { type: "message", wireType, enumTexts: undefined, known: undefined, zero: "{}", message };
    }
    const wireType = WIRE_TYPE_OF[value.type];
    const base = { type: value.type, wireType, message: undefined };
    if (value.is === "scalar") return { ...base, enumTexts: undefined, known: undefined, zero: zeroText(value.type) };
    const enumTexts = enumTextsOf(value.enum);
    const zero = enumTexts.get(value.enum.first) ?? "0";
    return { ...base, enumTexts, known: value.enum.closed ? value.enum.names : undefined, zero };
  }
}

function enumTextsOf(source: EnumSchema): ReadonlyMap<number, string> {
  if (source.fullName === "google.protobuf.NullValue") return new Map([[0, "null"]]);
  return new Map([...source.names].map(([number, name]) => [number, `"${name}"`]));
}

function zeroText(type: ScalarType): string {
  switch (type) {
    case "string":
    case "bytes":
      return '""';
    case "bool":
      return "false";
    case "int64":
    case "uint64":
    case "sint64":
    case "fixed64":
    case "sfixed64":
      return '"0"';
    default:
      return "0";
  }
}
