import { MAX_FIELD_NUMBER } from "../schema.ts";
import type { ProtoEnum, ProtoEnumValue, ProtoField, ProtoMessage, ProtoOption } from "./model.ts";
import { hasEdition } from "./model.ts";
import { parseField, within } from "./parse-fields.ts";
import { parseBracketOptions, parseOptionStatement } from "./parse-options.ts";
import type { TokenReader } from "./reader.ts";

/** Messages within one another; protoc has the same limit. */
const MAX_NESTING = 32;
const MAX_ENUM_NUMBER = 0x7fff_ffff;

/** Where declarations stand: a package or a message. */
interface Place {
  readonly reader: TokenReader;
  readonly level: string;
  readonly scope: string;
  readonly depth: number;
}

/** What a package or message collects. */
export interface Declarations {
  readonly messages: ProtoMessage[];
  readonly enums: ProtoEnum[];
  readonly extensions: ProtoField[];
}

/** Parses a message, enum or extend statement if one comes. */
export function parseDeclaration(place: Place, into: Declarations): boolean {
  const { reader } = place;
  // Visibility (edition 2024) says who may use a type, not what it is.
  if ((reader.at("export") || reader.at("local")) && (reader.at("message", 1) || reader.at("enum", 1))) reader.next();
  if (reader.take("message")) {
    into.messages.push(parseMessage(place, reader.word("the name of a message"), false));
    return true;
  }
  if (reader.take("enum")) {
    into.enums.push(parseEnum(place));
    return true;
  }
  if (!reader.take("extend")) return false;
  parseExtend(place, into);
  return true;
}

function parseMessage(outer: Place, name: string, group: boolean): ProtoMessage {
  const { reader } = outer;
  const place = { ...outer, scope: within(outer.scope, name), depth: outer.depth + 1 };
  if (place.depth > MAX_NESTING) throw reader.fault(`messages are nested more than ${MAX_NESTING} deep`);
  const message: ProtoMessage = {
    file: reader.file,
    fullName: place.scope,
    name,
    group,
    options: [],
    fields: [],
    oneofs: [],
    messages: [],
    enums: [],
    extensions: [],
    reservedNumbers: [],
    reservedNames: [],
    extensionRanges: [],
  };
  reader.expect("{");
  while (!reader.take("}")) parseMember(place, message);
  return message;
}

function parseMember(place: Place, message: ProtoMessage): void {
  const { reader } = place;
  if (reader.take(";") || parseDeclaration(place, message)) return;
  if (reader.take("option")) parseOptionStatement(reader, message.options);
  else if (reader.take("reserved")) parseReserved(place, message, MAX_FIELD_NUMBER, false);
  else if (reader.take("extensions")) {
    message.extensionRanges.push(...reader.ranges("the number of an extension", MAX_FIELD_NUMBER));
    parseBracketOptions(reader);
    reader.expect(";");
  } else if (reader.take("oneof")) parseOneof(place, message);
  else message.fields.push(field(place, message, undefined, undefined));
}

function field(place: Place, into: Declarations, oneof: number | undefined, extendee: string | undefined): ProtoField {
  const { reader, level, scope } = place;
  return parseField(reader, {
    level,
    scope,
    oneof,
    extendee,
    group: (name) => parseMessage(place, name, true),
    declare: (message) => into.messages.push(message),
  });
}

function parseOneof(place: Place, message: ProtoMessage): void {
  const { reader, scope } = place;
  const name = reader.word("the name of a oneof");
  const options: ProtoOption[] = [];
  const index = message.oneofs.push({ file: reader.file, fullName: within(scope, name), name, options }) - 1;
  reader.expect("{");
  const before = message.fields.length;
  while (!reader.take("}")) {
    if (reader.take(";")) continue;
    if (reader.take("option")) parseOptionStatement(reader, options);
    else message.fields.push(field(place, message, index, undefined));
  }
  if (message.fields.length === before) throw reader.fault(`the oneof "${name}" has no field`);
}

function parseExtend(place: Place, into: Declarations): void {
  const { reader } = place;
  const extendee = reader.path("the name of a message", true);
  reader.expect("{");
  const before = into.extensions.length;
  while (!reader.take("}")) {
    if (!reader.take(";")) into.extensions.push(field(place, into, undefined, extendee));
  }
  if (into.extensions.length === before) throw reader.fault(`nothing extends "${extendee}"`);
}

/** Numbers, or names: as text, in editions as words. */
function parseReserved(
  { reader, level }: Place,
  into: Pick<ProtoMessage, "reservedNames" | "reservedNumbers">,
  max: number,
  signed: boolean,
): void {
  const names = hasEdition(level) ? "word" : "text";
  if (reader.peek().kind === names) {
    do into.reservedNames.push(names === "word" ? reader.word("a name") : reader.text("a name"));
    while (reader.take(","));
  } else into.reservedNumbers.push(...reader.ranges("a number or a name", max, signed));
  reader.expect(";");
}

function parseEnum(place: Place): ProtoEnum {
  const { reader, scope } = place;
  const name = reader.word("the name of an enum");
  const fullName = within(scope, name);
  const options: ProtoOption[] = [];
  const values: ProtoEnumValue[] = [];
  const reserved = { reservedNumbers: [], reservedNames: [] };
  reader.expect("{");
  while (!reader.take("}")) {
    if (reader.take(";")) continue;
    if (reader.take("option")) parseOptionStatement(reader, options);
    else if (reader.take("reserved")) parseReserved(place, reserved, MAX_ENUM_NUMBER, true);
    else values.push(parseEnumValue(place));
  }
  return { file: reader.file, fullName, name, options, values, ...reserved };
}

/** The values of an enum stand beside it in scope, as in C++. */
function parseEnumValue({ reader, scope }: Place): ProtoEnumValue {
  const name = reader.word("the name of a value");
  reader.expect("=");
  const number = reader.integer("the number of a value", true);
  const options = parseBracketOptions(reader);
  reader.expect(";");
  return { file: reader.file, fullName: within(scope, name), name, number, options };
}
