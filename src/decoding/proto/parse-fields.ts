import type { ProtoField, ProtoMessage } from "./model.ts";
import { parseBracketOptions } from "./parse-options.ts";
import type { TokenReader } from "./reader.ts";

/** Where a field stands. */
export interface FieldPlace {
  readonly scope: string;
  readonly level: string;
  readonly oneof: number | undefined;
  readonly extendee: string | undefined;
  /** Parses the body of a group, from its opening brace. */
  readonly group: (name: string) => ProtoMessage;
  /** Takes the message that a group declares. */
  readonly declare: (message: ProtoMessage) => void;
}

/** The full name of what is declared in a scope. */
export function within(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}

/** A field, map field, group or extension. */
export function parseField(reader: TokenReader, place: FieldPlace): ProtoField {
  const label = parseLabel(reader, place);
  if (reader.at("group")) return parseGroup(reader, place, label);
  if (reader.at("map") && reader.at("<", 1)) return parseMap(reader, place, label);
  if (label === undefined && place.level === "proto2" && place.oneof === undefined) {
    throw reader.fault('expected "required", "optional" or "repeated"');
  }
  const type = reader.path("the type of a field", true);
  return finishField(reader, place, { label, type, mapKey: undefined });
}

function parseLabel(reader: TokenReader, place: FieldPlace): ProtoField["label"] {
  for (const label of ["optional", "required", "repeated"] as const) {
    if (!reader.take(label)) continue;
    if (place.oneof !== undefined) throw reader.fault("a field of a oneof cannot have a label");
    return label;
  }
  return undefined;
}

function finishField(
  reader: TokenReader,
  place: FieldPlace,
  start: Pick<ProtoField, "label" | "type" | "mapKey">,
): ProtoField {
  const name = reader.word("the name of a field");
  const number = parseNumber(reader);
  const options = parseBracketOptions(reader);
  reader.expect(";");
  return fieldOf(reader, place, {
    name,
    number,
    options,
    label: start.label,
    type: start.type,
    mapKey: start.mapKey,
    group: false,
  });
}

/** Written out: a descriptor may have a hundred thousand. */
function fieldOf(
  { file }: TokenReader,
  { scope, oneof, extendee }: FieldPlace,
  own: Pick<ProtoField, "name" | "number" | "options" | "label" | "type" | "mapKey" | "group">,
): ProtoField {
  const { name, number, options, label, type, mapKey, group } = own;
  const fullName = within(scope, name);
  return { file, fullName, name, options, label, type, group, mapKey, number, oneof, extendee, scope };
}

function parseNumber(reader: TokenReader): number {
  reader.expect("=");
  return reader.integer("the number of a field");
}

function parseMap(reader: TokenReader, place: FieldPlace, label: ProtoField["label"]): ProtoField {
  if (label !== undefined) throw reader.fault("a map cannot have a label");
  if (place.oneof !== undefined) throw reader.fault("a map cannot be in a oneof");
  if (place.extendee !== undefined) throw reader.fault("a map cannot be an extension");
  reader.expect("map");
  reader.expect("<");
  const mapKey = reader.path("the type of the keys", true);
  reader.expect(",");
  const type = reader.path("the type of the values", true);
  reader.expect(">");
  return finishField(reader, place, { label: undefined, type, mapKey });
}

/** A group declares a message and a field; the field has the message's name in lower case. */
function parseGroup(reader: TokenReader, place: FieldPlace, label: ProtoField["label"]): ProtoField {
  if (place.level !== "proto2") throw reader.fault(`groups do not exist in ${levelText(place.level)}`);
  if (label === undefined && place.oneof === undefined) throw reader.fault("a group needs a label");
  reader.expect("group");
  const type = reader.word("the name of a group");
  if (!/^[A-Z]/.test(type)) throw reader.fault(`the group "${type}" must begin with a capital letter`);
  const number = parseNumber(reader);
  const options = parseBracketOptions(reader);
  place.declare(place.group(type));
  const name = type.toLowerCase();
  return fieldOf(reader, place, { name, number, options, label, type, mapKey: undefined, group: true });
}

/** A level in words. */
export function levelText(level: string): string {
  return level.startsWith("proto") ? level : `edition ${level}`;
}
