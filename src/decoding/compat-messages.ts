import { compareEnums, compareReserved } from "./compat-enums.ts";
import type { Reasons } from "./compat-reasons.ts";
import { declaredType, keyChange, valueChange } from "./compat-types.ts";
import { NumberRanges } from "./number-ranges.ts";
import type { EnumSchema, FieldSchema, MessageSchema } from "./schema.ts";

/** Numbers that the versions between an older one and the new one gave a message, by the new one's message. */
export type NumbersSince = ReadonlyMap<string, readonly ReadonlySet<number>[]>;

/** A message in two versions, with what is looked up per field. */
class MessagePair {
  readonly before: MessageSchema;
  readonly after: MessageSchema;
  readonly reserved: NumberRanges;
  readonly jsonNames: ReadonlyMap<string, number>;
  /** Of each oneof of the new version: how many of its members were in which oneof before, or in none. */
  readonly #origins = new Map<number, Map<number | undefined, number>>();

  constructor(before: MessageSchema, after: MessageSchema) {
    this.before = before;
    this.after = after;
    this.reserved = new NumberRanges(after.reserved.numbers);
    this.jsonNames = new Map(before.fields.map(({ jsonName, number }) => [jsonName, number]));
    for (const { number, oneof } of after.fields) {
      const was = before.byNumber.get(number);
      if (was === undefined || oneof === undefined) continue;
      const origins = this.#origins.get(oneof) ?? new Map<number | undefined, number>();
      this.#origins.set(oneof, origins.set(was.oneof, (origins.get(was.oneof) ?? 0) + 1));
    }
  }

  /** Whether a field is in a oneof with another one that was not in the same oneof before. */
  joined(before: FieldSchema, after: FieldSchema): boolean {
    if (after.oneof === undefined) return false;
    const origins = this.#origins.get(after.oneof) ?? new Map<number | undefined, number>();
    const alone = before.oneof === undefined ? 1 : (origins.get(before.oneof) ?? 0);
    let all = 0;
    for (const count of origins.values()) all += count;
    return all > alone;
  }
}

/** Compares the messages of two versions by field number; messages that fields hold are followed, whatever their names. */
export class MessageComparer {
  /** Full names of the new version's messages, by those of the old one's that were compared with them. */
  readonly paired = new Map<string, string>();
  readonly #seen = new Set<string>();
  readonly #reasons: Reasons;
  readonly #since: NumbersSince;

  constructor(reasons: Reasons, since: NumbersSince) {
    this.#reasons = reasons;
    this.#since = since;
  }

  compare(before: MessageSchema, after: MessageSchema): void {
    // Without recursion: types may hold one another over any number of steps.
    const queue: [MessageSchema, MessageSchema][] = [[before, after]];
    for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
      const [old, now] = pair;
      const key = `${old.fullName} ${now.fullName}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      this.#message(old, now, queue);
    }
  }

  #message(before: MessageSchema, after: MessageSchema, queue: [MessageSchema, MessageSchema][]): void {
    const pair = new MessagePair(before, after);
    const type = before.fullName;
    this.paired.set(type, after.fullName);
    if (type !== after.fullName) this.#reasons.add("MESSAGE_RENAMED", { type, before: type, after: after.fullName });
    for (const field of before.fields) {
      const now = after.byNumber.get(field.number);
      if (now === undefined) this.#removed(pair, field);
      else this.#field(pair, field, now, queue);
    }
    const added = after.fields.filter(({ number }) => !before.byNumber.has(number));
    for (const { number, required, name } of added) {
      if (required) this.#reasons.add("REQUIRED_ADDED", { type, number, after: `required ${name}` });
    }
    const names = added.map(({ name, number }): [string, number] => [name, number]);
    compareReserved(type, before.reserved, after.reserved, names, this.#reasons);
  }

  #removed({ before, reserved }: MessagePair, field: FieldSchema): void {
    const { number, name } = field;
    const breaks = !reserved.has(number);
    this.#reasons.add("FIELD_REMOVED", {
      type: before.fullName,
      number,
      before: `${declaredType(field)} ${name}`,
      breaks,
    });
  }

  #field(pair: MessagePair, before: FieldSchema, after: FieldSchema, queue: [MessageSchema, MessageSchema][]): void {
    const type = pair.before.fullName;
    const { number } = before;
    const types = { type, number, before: declaredType(before), after: declaredType(after) };
    this.#names(pair, before, after);
    if ((before.mapKey === undefined) !== (after.mapKey === undefined)) this.#reasons.add("MAP_CHANGED", types);
    else if (before.repeated !== after.repeated) this.#reasons.add("LABEL_CHANGED", types);
    const changes = [keyChange(before, after), valueChange(before.value, after.value)];
    for (const change of changes) {
      if (change !== undefined) this.#reasons.add(change.code, { ...types, breaks: change.breaks });
    }
    if (before.required !== after.required) {
      this.#reasons.add(after.required ? "REQUIRED_ADDED" : "REQUIRED_REMOVED", types);
    }
    this.#oneof(pair, before, after);
    if (before.value.is === "enum" && after.value.is === "enum") this.#enum(before.value.enum, after.value.enum);
    if (before.value.is === "message" && after.value.is === "message" && changes[1] === undefined) {
      queue.push([before.value.message, after.value.message]);
    }
  }

  #names(pair: MessagePair, before: FieldSchema, after: FieldSchema): void {
    const { number } = before;
    const names = { type: pair.before.fullName, number, before: shownName(before), after: shownName(after) };
    if (names.before === names.after) return;
    const since = this.#since.get(pair.after.fullName) ?? [];
    if (before.name !== after.name && since.some((numbers) => !numbers.has(number))) {
      this.#reasons.add("NUMBER_REUSED", names);
      return;
    }
    // A name that another number had makes JSON show one field's values as the other's.
    const other = pair.jsonNames.get(after.jsonName);
    this.#reasons.add("FIELD_RENAMED", { ...names, breaks: other !== undefined && other !== number });
  }

  #oneof(pair: MessagePair, before: FieldSchema, after: FieldSchema): void {
    const about = { type: pair.before.fullName, number: before.number };
    if (pair.joined(before, after)) {
      this.#reasons.add("ONEOF_JOINED", { ...about, before: place(before), after: place(after) });
      return;
    }
    if (before.oneof !== undefined && after.oneof === undefined) {
      this.#reasons.add("ONEOF_LEFT", { ...about, before: place(before), after: place(after) });
    } else if (
      before.presence !== after.presence &&
      !before.repeated &&
      !after.repeated &&
      before.value.is !== "message" &&
      after.value.is !== "message"
    ) {
      const word = (presence: boolean): string => (presence ? "explicit" : "implicit");
      this.#reasons.add("PRESENCE_CHANGED", { ...about, before: word(before.presence), after: word(after.presence) });
    }
  }

  #enum(before: EnumSchema, after: EnumSchema): void {
    const key = `enum ${before.fullName} ${after.fullName}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    compareEnums(before, after, this.#reasons);
  }
}

function place({ oneof }: FieldSchema): string {
  return oneof === undefined ? "beside the others" : "in a oneof";
}

function shownName({ name, jsonName }: FieldSchema): string {
  return name === jsonName ? name : `${name} (JSON ${jsonName})`;
}
