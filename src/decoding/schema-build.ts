import protobuf from "protobufjs";
import type { ProtoFiles } from "../ports/decoder.ts";
import {
  checkFeatures,
  descriptorInvalid,
  editionOf,
  featureOf,
  nameOf,
  parseProtoFiles,
  resolveFeatures,
} from "./proto-files.ts";
import { ProtoScope } from "./proto-scope.ts";
import { scalarType } from "./schema.ts";
import type { EnumSchema, FieldSchema, MessageSchema, Schema, ValueSchema } from "./schema.ts";

/**
 * Compiles .proto files into a schema: every message, enum and extension, names resolved, numbers checked.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the file, type or field.
 */
export function buildSchema(files: ProtoFiles): Schema {
  const root = parseProtoFiles(files);
  const scope = new ProtoScope(root);
  scope.check(root);
  resolveFeatures(root);
  const enums = new Map([...scope.enums()].map((found) => [nameOf(found), enumSchema(found)]));
  const drafts = new Map<string, Draft>();
  const types = new Map<string, protobuf.Type>();
  for (const type of scope.messages()) {
    drafts.set(nameOf(type), { fullName: nameOf(type), fields: [], byNumber: new Map() });
    types.set(nameOf(type), type);
  }
  const builder = new FieldBuilder(scope, enums, drafts);
  for (const type of types.values()) builder.addFields(type);
  builder.addExtensions(root);
  for (const draft of drafts.values()) finish(draft);
  return {
    message: (fullName) => drafts.get(fullName),
    indexPath: (fullName) => indexPath(types.get(fullName)),
    hasIndexPath: (fullName, path) => {
      const file = types.get(fullName)?.filename;
      return [...types.values()].some((type) => type.filename === file && indexPath(type).join(",") === path.join(","));
    },
  };
}

/** A message while its fields are collected. Its identity stays, so that recursive types can refer to it. */
interface Draft extends MessageSchema {
  fields: FieldSchema[];
  readonly byNumber: Map<number, FieldSchema>;
}

function finish(draft: Draft): void {
  draft.fields.sort((a, b) => a.number - b.number);
  const jsonNames = new Map<string, string>();
  for (const field of draft.fields) {
    const other = jsonNames.get(field.jsonName);
    if (other !== undefined) {
      throw descriptorInvalid(
        `${draft.fullName}: fields "${other}" and "${field.name}" share the JSON name "${field.jsonName}"`,
      );
    }
    jsonNames.set(field.jsonName, field.name);
  }
}

function enumSchema(source: protobuf.Enum): EnumSchema {
  checkFeatures(source);
  const numbers = new Map(Object.entries(source.values));
  const names = new Map<number, string>();
  for (const [name, number] of numbers) {
    if (!Number.isInteger(number) || number < -0x8000_0000 || number > 0x7fff_ffff) {
      throw descriptorInvalid(`${nameOf(source)}.${name}: ${number} is not a 32-bit number`);
    }
    if (!names.has(number)) names.set(number, name);
  }
  const [first] = numbers.values();
  if (first === undefined) throw descriptorInvalid(`${nameOf(source)}: an enum needs a value`);
  const edition = editionOf(source);
  const closed = edition === "proto2" || (edition !== "proto3" && featureOf(source, "enum_type") === "CLOSED");
  if (!closed && first !== 0) throw descriptorInvalid(`${nameOf(source)}: the first value of an open enum must be 0`);
  return { fullName: nameOf(source), names, numbers, first, closed };
}

const MAX_FIELD_NUMBER = 0x1fff_ffff;
const RESERVED_FIRST = 19_000;
const RESERVED_LAST = 19_999;

class FieldBuilder {
  readonly #scope: ProtoScope;
  readonly #enums: ReadonlyMap<string, EnumSchema>;
  readonly #drafts: ReadonlyMap<string, Draft>;

  constructor(scope: ProtoScope, enums: ReadonlyMap<string, EnumSchema>, drafts: ReadonlyMap<string, Draft>) {
    this.#scope = scope;
    this.#enums = enums;
    this.#drafts = drafts;
  }

  /** Adds a type's own fields; protobufjs' copies of extensions are left to {@link addExtensions}. */
  addFields(type: protobuf.Type): void {
    checkFeatures(type);
    const oneofs = type.oneofsArray.filter((oneof) => !oneof.isProto3Optional);
    for (const field of type.fieldsArray) {
      if (field.declaringField !== null) continue;
      const oneof = field.partOf === null ? -1 : oneofs.indexOf(field.partOf);
      this.#add(nameOf(type), field, this.#field(field, undefined, oneof < 0 ? undefined : oneof));
    }
  }

  /** Adds every extension field beneath `namespace` to the message that it extends. */
  addExtensions(namespace: protobuf.NamespaceBase): void {
    for (const nested of namespace.nestedArray) {
      if (nested instanceof protobuf.Field && nested.extend !== undefined) {
        const extended = this.#scope.resolve(nested.extend, nested);
        this.#add(nameOf(extended), nested, this.#field(nested, extensionName(nested, this.#scope), undefined));
      } else if (nested instanceof protobuf.Namespace || nested instanceof protobuf.Type) {
        this.addExtensions(nested);
      }
    }
  }

  #add(message: string, source: protobuf.Field, field: FieldSchema): void {
    const draft = this.#drafts.get(message);
    const at = `${nameOf(source)} = ${field.number}`;
    if (draft === undefined) throw descriptorInvalid(`${at}: "${message}" is not a message`);
    const { number } = field;
    if (!Number.isInteger(number) || number < 1 || number > MAX_FIELD_NUMBER) {
      throw descriptorInvalid(`${at}: the number must be from 1 to ${MAX_FIELD_NUMBER}`);
    }
    if (number >= RESERVED_FIRST && number <= RESERVED_LAST) {
      throw descriptorInvalid(`${at}: numbers ${RESERVED_FIRST} to ${RESERVED_LAST} are reserved by protobuf`);
    }
    const other = draft.byNumber.get(number);
    if (other !== undefined) throw descriptorInvalid(`${at}: the number is already taken by "${other.name}"`);
    draft.byNumber.set(number, field);
    draft.fields.push(field);
  }

  #field(source: protobuf.Field, extension: string | undefined, oneof: number | undefined): FieldSchema {
    checkFeatures(source);
    const value = this.#value(source);
    const name = extension ?? declaredName(source, value);
    const repeated = source.repeated || source.map;
    const required = source.required && !repeated;
    return {
      number: source.id,
      name,
      jsonName: extension ?? jsonNameOf(source, name),
      value,
      repeated: source.repeated,
      mapKey: source instanceof protobuf.MapField ? scalarType(source.keyType) : undefined,
      presence: !repeated && (value.is === "message" || extension !== undefined || hasPresence(source)),
      required,
      oneof,
    };
  }

  #value(source: protobuf.Field): ValueSchema {
    const scalar = scalarType(source.type);
    if (scalar !== undefined) return { is: "scalar", type: scalar };
    const target = this.#scope.resolve(source.type, source);
    const name = nameOf(target);
    const found = this.#enums.get(name);
    if (found !== undefined) return { is: "enum", type: "enum", enum: found };
    const message = this.#drafts.get(name);
    if (message === undefined) throw descriptorInvalid(`${nameOf(source)}: no such type "${source.type}"`);
    return { is: "message", message, delimited: isDelimited(source, target) };
  }
}

function hasPresence(field: protobuf.Field): boolean {
  if (field.partOf !== null) return true;
  const edition = editionOf(field);
  if (edition === "proto2" || edition === "proto3") return edition === "proto2";
  return featureOf(field, "field_presence") !== "IMPLICIT";
}

/** The field that a `group` statement declares beside its type. */
function isLegacyGroup(field: protobuf.Field, target: protobuf.ReflectionObject): boolean {
  if (!(target instanceof protobuf.Type) || Reflect.get(target, "group") !== true) return false;
  const lowerFirst = target.name.slice(0, 1).toLowerCase() + target.name.slice(1);
  return field.parent === target.parent && field.name === lowerFirst;
}

function isDelimited(field: protobuf.Field, target: protobuf.ReflectionObject): boolean {
  const edition = editionOf(field);
  if (edition === "proto2" || edition === "proto3") return isLegacyGroup(field, target);
  return !field.map && featureOf(field, "message_encoding") === "DELIMITED";
}

/** A group's field is named like its type in lower case (protobuf language, groups). */
function declaredName(field: protobuf.Field, value: ValueSchema): string {
  const legacyGroup = value.is === "message" && value.delimited && ["proto2", "proto3"].includes(editionOf(field));
  return legacyGroup ? field.name.toLowerCase() : field.name;
}

function extensionName(field: protobuf.Field, scope: ProtoScope): string {
  const legacyGroup = scalarType(field.type) === undefined && isLegacyGroup(field, scope.resolve(field.type, field));
  const parent = field.parent === null ? "" : nameOf(field.parent);
  return `[${parent === "" ? "" : `${parent}.`}${legacyGroup ? field.name.toLowerCase() : field.name}]`;
}

function jsonNameOf(field: protobuf.Field, name: string): string {
  const declared: unknown = field.options?.["json_name"];
  if (declared === undefined) return lowerCamel(name);
  if (typeof declared !== "string" || declared === "" || declared === "@type" || /^\[|\0/.test(declared)) {
    throw descriptorInvalid(`${nameOf(field)}: the json_name cannot be used`);
  }
  return declared;
}

/** Default JSON name (protobuf language, json_name): underscores go, and what follows one is upper case. */
function lowerCamel(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}

function indexPath(type: protobuf.Type | undefined): readonly number[] {
  if (type === undefined || type.parent === null) return [];
  const siblings = type.parent.nestedArray.filter(
    (nested): nested is protobuf.Type =>
      nested instanceof protobuf.Type && Reflect.get(nested, "group") !== true && nested.filename === type.filename,
  );
  const outer = type.parent instanceof protobuf.Type ? indexPath(type.parent) : [];
  return [...outer, siblings.indexOf(type)];
}
