import type { ProtoFiles } from "../ports/decoder.ts";
import { checkEnum, isClosed } from "./proto/check-enum.ts";
import { checkField } from "./proto/check-field.ts";
import { checkMessage, checkNumber } from "./proto/check-message.ts";
import { featuresOfFile, ownFeature, withOwn } from "./proto/features.ts";
import type { Features } from "./proto/features.ts";
import { NumberRanges } from "./number-ranges.ts";
import { lowerCamel } from "./proto/json-name.ts";
import { loadProtoFiles } from "./proto/files.ts";
import type { ProtoFileSet } from "./proto/files.ts";
import { descriptorInvalid } from "./proto/invalid.ts";
import type { ProtoEnum, ProtoField, ProtoFile, ProtoMessage, ProtoNode } from "./proto/model.ts";
import { checkOptions, optionOf } from "./proto/options.ts";
import { Symbols } from "./proto/symbols.ts";
import type { ProtoType } from "./proto/symbols.ts";
import { scalarType } from "./schema.ts";
import type { EnumSchema, FieldSchema, MessageSchema, ScalarType, Schema, ValueSchema } from "./schema.ts";

/**
 * Compiles .proto files into a schema: every message, enum and extension, names resolved, the rules of the protobuf
 * language checked.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the file, and the line or the type and field.
 */
export function buildSchema(sources: ProtoFiles): Schema {
  const set = loadProtoFiles(sources);
  const builder = new SchemaBuilder(set, new Symbols(set));
  return builder.build();
}

/** A message while its fields are collected. Its identity stays, so that recursive types can refer to it. */
interface Draft extends MessageSchema {
  fields: FieldSchema[];
  readonly byNumber: Map<number, FieldSchema>;
}

interface FileContext {
  readonly package: string;
  /** Whether the file was given, and is not one that is known anyway. */
  readonly given: boolean;
  readonly level: string;
  readonly features: Features;
}

class SchemaBuilder {
  readonly #files: ReadonlyMap<string, ProtoFile>;
  readonly #symbols: Symbols;
  readonly #contexts: ReadonlyMap<string, FileContext>;
  readonly #enums = new Map<string, EnumSchema>();
  readonly #drafts = new Map<string, Draft>();
  readonly #ranges = new Map<ProtoMessage, NumberRanges>();
  /** Indexes of each message within its file. */
  readonly #places = new Map<string, { readonly file: string; readonly path: readonly number[] }>();

  constructor({ files, given }: ProtoFileSet, symbols: Symbols) {
    this.#files = files;
    this.#symbols = symbols;
    this.#contexts = new Map(
      [...files.values()].map((file) => [
        file.path,
        { package: file.package, given: given.has(file.path), level: file.level, features: featuresOfFile(file) },
      ]),
    );
  }

  build(): Schema {
    for (const file of this.#files.values()) {
      this.#checkFile(file);
      this.#place(file.messages, []);
    }
    for (const found of this.#symbols.enums()) this.#addEnum(found);
    for (const { file, fullName, reservedNumbers: numbers, reservedNames: names } of this.#symbols.messages()) {
      const reserved = { numbers, names };
      const { package: declared } = this.#context(file);
      this.#drafts.set(fullName, { fullName, package: declared, fields: [], byNumber: new Map(), reserved });
    }
    for (const message of this.#symbols.messages()) this.#addMessage(message);
    for (const { extensions } of this.#files.values()) this.#addExtensions(extensions);
    for (const { extensions } of this.#symbols.messages()) this.#addExtensions(extensions);
    for (const draft of this.#drafts.values()) finish(draft);
    return this.#schema();
  }

  /** Keeps nothing of the files: a schema lives longer. */
  #schema(): Schema {
    const places = this.#places;
    const drafts = this.#drafts;
    const known = new Set([...places.values()].map(({ file, path }) => `${path.join(",")} ${file}`));
    return {
      message: (fullName) => drafts.get(fullName),
      messages: this.#given(this.#symbols.messages(), drafts),
      enums: this.#given(this.#symbols.enums(), this.#enums),
      indexPath: (fullName) => places.get(fullName)?.path ?? [],
      hasIndexPath: (fullName, path) => known.has(`${path.join(",")} ${places.get(fullName)?.file ?? ""}`),
    };
  }

  #given<Compiled>(
    declared: Iterable<Pick<ProtoNode, "file" | "fullName">>,
    compiled: ReadonlyMap<string, Compiled>,
  ): Compiled[] {
    return [...declared].flatMap(({ file, fullName }) => {
      const found = compiled.get(fullName);
      return found !== undefined && this.#context(file).given ? [found] : [];
    });
  }

  #context(file: string): FileContext {
    const context = this.#contexts.get(file);
    if (context === undefined) throw descriptorInvalid(`${file}: is not loaded`);
    return context;
  }

  #checkFile(file: ProtoFile): void {
    const { path, level, options } = file;
    checkOptions({ file: path, fullName: "the file", options }, "file", level);
    if (ownFeature(options, "field_presence") === "LEGACY_REQUIRED") {
      throw descriptorInvalid(`${path}: not all fields of a file can be required`);
    }
    for (const service of file.services) {
      checkOptions(service, "service", level);
      for (const method of service.methods) {
        checkOptions(method, "method", level);
        for (const type of method.types) {
          const found = this.#symbols.resolve(type, { ...method, scope: service.fullName });
          if (found.is === "enum") throw descriptorInvalid(`${path}: ${method.fullName}: "${type}" is not a message`);
        }
      }
    }
  }

  /** Groups are not counted, see {@link Schema.indexPath}. */
  #place(messages: readonly ProtoMessage[], outer: readonly number[]): void {
    let index = 0;
    for (const { group, file, fullName, messages: nested } of messages) {
      const path = [...outer, group ? -1 : index];
      if (!group) index += 1;
      this.#places.set(fullName, { file, path });
      this.#place(nested, path);
    }
  }

  #addEnum(source: ProtoEnum): void {
    const { level, features } = this.#context(source.file);
    checkEnum(source, features, level);
    const names = new Map<number, string>();
    for (const { name, number } of source.values) if (!names.has(number)) names.set(number, name);
    this.#enums.set(source.fullName, {
      fullName: source.fullName,
      names,
      numbers: new Map(source.values.map(({ name, number }) => [name, number])),
      first: source.values[0]?.number ?? 0,
      closed: isClosed(source, features),
      reserved: { numbers: source.reservedNumbers, names: source.reservedNames },
    });
  }

  #addMessage(message: ProtoMessage): void {
    checkMessage(message, this.#context(message.file).level);
    for (const field of message.fields) this.#add(message.fullName, this.#field(field, undefined));
  }

  #addExtensions(extensions: readonly ProtoField[]): void {
    for (const extension of extensions) {
      const { file, fullName, extendee = "", number } = extension;
      const place = `${file}: ${fullName} = ${number}`;
      const extended = this.#symbols.resolve(extendee, extension);
      if (extended.is !== "message") throw descriptorInvalid(`${place}: "${extendee}" is not a message`);
      checkNumber(extension);
      if (!this.#extensionRanges(extended.of).has(number)) {
        throw descriptorInvalid(`${place}: ${extended.of.fullName} leaves no such number to extensions`);
      }
      const option = /^google\.protobuf\.\w+Options$/.test(extended.of.fullName);
      if (this.#context(file).level === "proto3" && !option) {
        throw descriptorInvalid(`${place}: proto3 can only extend the messages of options`);
      }
      const other = this.#drafts.get(extended.of.fullName)?.byNumber.get(number);
      if (other !== undefined) throw descriptorInvalid(`${place}: the number is already taken by "${other.name}"`);
      this.#add(extended.of.fullName, this.#field(extension, `[${fullName}]`));
    }
  }

  #extensionRanges(message: ProtoMessage): NumberRanges {
    const ranges = this.#ranges.get(message) ?? new NumberRanges(message.extensionRanges);
    this.#ranges.set(message, ranges);
    return ranges;
  }

  #add(message: string, field: FieldSchema): void {
    const draft = this.#drafts.get(message);
    draft?.byNumber.set(field.number, field);
    draft?.fields.push(field);
  }

  #field(source: ProtoField, extension: string | undefined): FieldSchema {
    const { level, features: base } = this.#context(source.file);
    const features = withOwn(base, source.options);
    const scalar = scalarType(source.type);
    const type = scalar === undefined ? this.#symbols.resolve(source.type, source) : undefined;
    const typeFeatures = type === undefined ? features : this.#context(type.of.file).features;
    checkField(source, { level, features, type, typeFeatures });
    const value = scalar === undefined ? this.#value(source, type, features) : scalarValue(scalar);
    const repeated = source.label === "repeated";
    const single = !repeated && source.mapKey === undefined;
    const explicit = source.oneof !== undefined || source.label === "optional" || features.presence !== "IMPLICIT";
    return {
      number: source.number,
      name: extension ?? source.name,
      jsonName: extension ?? jsonNameOf(source),
      value,
      repeated,
      mapKey: source.mapKey === undefined ? undefined : scalarType(source.mapKey),
      presence: single && (value.is === "message" || extension !== undefined || explicit),
      required: single && (source.label === "required" || features.presence === "LEGACY_REQUIRED"),
      oneof: source.oneof,
    };
  }

  #value(source: ProtoField, type: ProtoType | undefined, features: Features): ValueSchema {
    const found = type?.is === "enum" ? this.#enums.get(type.of.fullName) : undefined;
    if (found !== undefined) return { is: "enum", type: "enum", enum: found };
    const message = type === undefined ? undefined : this.#drafts.get(type.of.fullName);
    if (message === undefined) throw descriptorInvalid(`${source.file}: ${source.fullName}: "${source.type}" is lost`);
    // The entries of a map and their values always come with their length.
    return { is: "message", message, delimited: source.group || (features.delimited && source.mapKey === undefined) };
  }
}

const SCALAR_VALUES = new Map<string, ValueSchema>();

/** Shared: a schema of thousands of fields is kept. */
function scalarValue(type: Exclude<ScalarType, "enum">): ValueSchema {
  const found = SCALAR_VALUES.get(type) ?? { is: "scalar", type };
  SCALAR_VALUES.set(type, found);
  return found;
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

function jsonNameOf({ file, fullName, name, options }: ProtoField): string {
  const declared = optionOf(options, "json_name");
  if (declared === undefined) return lowerCamel(name);
  const { is, text } = declared;
  if (is !== "text" || text === "" || text === "@type" || text === "__proto__" || /^\[|[\0\ufffd]/.test(text)) {
    throw descriptorInvalid(`${file}: ${fullName}: the json_name cannot be used`);
  }
  return text;
}
