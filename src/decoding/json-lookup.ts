import type { FieldPath } from "../core/source.ts";
import { specialForm } from "./body-plan.ts";
import { mappingInvalid } from "./input-plan.ts";
import type { FieldSchema, MessageSchema } from "./schema.ts";

/** What a scan knows of a JSON value before it comes. */
export interface JsonLookup {
  /** Number of the field whose value it is; 0 for the record's own. */
  readonly number: number;
  /** Where the place of the value goes; undefined for a value that no input needs. */
  readonly slot: number | undefined;
  /** Whether an input lies within: anything but an object or null is then a fault. */
  readonly needed: boolean;
  /** Of a message: its fields by every key that may stand for them. Other keys are unknown fields. */
  readonly members: ReadonlyMap<string, JsonLookup> | undefined;
  /** Of a list: its elements. */
  readonly items: JsonLookup | undefined;
  /** Of a map: its values, whatever their key. */
  readonly entries: JsonLookup | undefined;
  /** The oneof that the field belongs to, within its message. */
  readonly oneof: number | undefined;
  /** Whether null is a value like any: google.protobuf.Value and NullValue. */
  readonly nullIsValue: boolean;
}

/** Which input is read from where. */
export interface JsonTarget {
  readonly name: string;
  readonly slot: number;
  readonly path: FieldPath;
}

/** Inputs at and beneath a place, by field number. */
interface Targets {
  slot: number | undefined;
  readonly within: Map<number, Targets>;
}

type Writable = { -readonly [Key in keyof JsonLookup]: JsonLookup[Key] };

/**
 * Turns paths of field numbers into keys. Where the keys of two fields are the same text, a JSON name goes before a
 * declared name, as in protobuf's own parsers. All messages are followed, so that fields that stand for one another, members
 * of a oneof and unknown fields are seen wherever they are.
 * @throws StreamsError `MAPPING_INVALID`: a path into a message whose JSON form has no such member (a Timestamp is text).
 */
export function jsonLookup(message: MessageSchema, inputs: readonly JsonTarget[]): JsonLookup {
  const targets: Targets = { slot: undefined, within: new Map() };
  for (const input of inputs) addTarget(targets, message, input);
  const lookups = new Lookups();
  const lookup = lookups.ofMessage(message, base(0), targets);
  lookups.complete();
  return lookup;
}

function addTarget(root: Targets, message: MessageSchema, { name, slot, path }: JsonTarget): void {
  let at = root;
  let type = message;
  for (const number of path) {
    const field = type.byNumber.get(number);
    const special = specialForm(type.fullName);
    if (field === undefined || (special !== undefined && special !== "wrapper")) {
      throw mappingInvalid(`the input "${name}": path ${path.join(".")}: ${type.fullName} has no such member in JSON`);
    }
    // A wrapper is written as what it wraps: both are one place.
    if (special !== "wrapper") {
      const below = at.within.get(number) ?? { slot: undefined, within: new Map() };
      at.within.set(number, below);
      at = below;
    }
    if (field.value.is === "message") type = field.value.message;
  }
  at.slot = slot;
}

function base(number: number): Writable {
  return {
    number,
    slot: undefined,
    needed: false,
    members: undefined,
    items: undefined,
    entries: undefined,
    oneof: undefined,
    nullIsValue: false,
  };
}

/** Makes lookups. Members of messages that no input needs are shared, since types can be recursive. */
class Lookups {
  readonly #shared = new Map<MessageSchema, ReadonlyMap<string, JsonLookup>>();
  /** Shared members that are not there yet: types may hold one another over any number of steps. */
  readonly #open: (readonly [Map<string, JsonLookup>, MessageSchema])[] = [];

  /** Fills in what was begun. */
  complete(): void {
    for (let open = this.#open.pop(); open !== undefined; open = this.#open.pop()) this.#fill(...open, undefined);
  }

  /** Completes `lookup` for a value of the message type. */
  ofMessage(message: MessageSchema, lookup: Writable, targets: Targets | undefined): JsonLookup {
    lookup.slot = targets?.slot;
    const special = specialForm(message.fullName);
    lookup.nullIsValue = special === "value";
    if (special !== undefined) return lookup;
    lookup.needed = targets !== undefined && targets.within.size > 0;
    lookup.members = lookup.needed ? this.#fill(new Map(), message, targets) : this.#sharedMembers(message);
    return lookup;
  }

  #sharedMembers(message: MessageSchema): ReadonlyMap<string, JsonLookup> {
    const found = this.#shared.get(message);
    if (found !== undefined) return found;
    const made = new Map<string, JsonLookup>();
    this.#shared.set(message, made);
    this.#open.push([made, message]);
    return made;
  }

  #fill(into: Map<string, JsonLookup>, message: MessageSchema, targets: Targets | undefined): Map<string, JsonLookup> {
    const lookups = message.fields.map((field) => this.#field(field, targets?.within.get(field.number)));
    for (const [index, { jsonName }] of message.fields.entries()) {
      const lookup = lookups[index];
      if (lookup !== undefined) into.set(jsonName, lookup);
    }
    for (const [index, { name }] of message.fields.entries()) {
      const lookup = lookups[index];
      if (lookup !== undefined && !into.has(name)) into.set(name, lookup);
    }
    return into;
  }

  #field(field: FieldSchema, targets: Targets | undefined): JsonLookup {
    const lookup = base(field.number);
    lookup.oneof = field.oneof;
    if (field.mapKey !== undefined) lookup.entries = this.#value(field, base(2), undefined);
    else if (field.repeated) lookup.items = this.#value(field, base(field.number), undefined);
    else this.#value(field, lookup, targets);
    return lookup;
  }

  #value({ value }: FieldSchema, lookup: Writable, targets: Targets | undefined): JsonLookup {
    if (value.is === "message") return this.ofMessage(value.message, lookup, targets);
    lookup.slot = targets?.slot;
    lookup.nullIsValue = value.is === "enum" && value.enum.fullName === NULL_VALUE;
    return lookup;
  }
}

/** The enum whose only value is written as null. */
export const NULL_VALUE = "google.protobuf.NullValue";

/** Which fields of one object have come, by number, and which oneofs are set. */
export class MembersSeen {
  readonly #numbers = new Set<number>();
  readonly #oneofs = new Set<number>();

  /** Notes a field. Returns false when it came before, under whichever of its names. */
  field({ number }: JsonLookup): boolean {
    const before = this.#numbers.size;
    return this.#numbers.add(number).size > before;
  }

  /** Notes a member of a oneof. Returns false when another one is set. Null sets nothing, where it is no value. */
  sets({ oneof, nullIsValue }: JsonLookup, isNull: boolean): boolean {
    if (oneof === undefined || (isNull && !nullIsValue)) return true;
    const before = this.#oneofs.size;
    return this.#oneofs.add(oneof).size > before;
  }
}
