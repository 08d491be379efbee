import type { OptionValue, ProtoOption } from "./model.ts";
import type { TokenReader } from "./reader.ts";

/** Messages within one another in the value of an option. */
const MAX_DEPTH = 32;

/** `option name = value;`, from behind the word. */
export function parseOptionStatement(reader: TokenReader, into: ProtoOption[]): void {
  parseOption(reader, into);
  reader.expect(";");
}

/** `[a = 1, (b) = 2]`, if it comes. */
export function parseBracketOptions(reader: TokenReader): ProtoOption[] {
  const options: ProtoOption[] = [];
  if (!reader.take("[")) return options;
  do parseOption(reader, options);
  while (reader.take(","));
  reader.expect("]");
  return options;
}

function parseOption(reader: TokenReader, into: ProtoOption[]): void {
  let name = parseNamePart(reader);
  while (reader.take(".")) name += `.${parseNamePart(reader)}`;
  reader.expect("=");
  parseValue(reader, name, into, 0, false);
}

function parseNamePart(reader: TokenReader): string {
  if (!reader.take("(")) return reader.word("the name of an option");
  const name = reader.path("the name of an option", true);
  reader.expect(")");
  return `(${name})`;
}

/** Any value. Adds it under its name, and what it is made of under names of their own. */
function parseValue(reader: TokenReader, name: string, into: ProtoOption[], depth: number, inMessage: boolean): void {
  if (depth > MAX_DEPTH) throw reader.fault(`the value of an option is nested more than ${MAX_DEPTH} deep`);
  if (reader.at("{") || (inMessage && reader.at("<"))) {
    into.push({ name, value: { is: "message", text: "" } });
    parseMessage(reader, name, into, depth + 1);
  } else if (inMessage && reader.take("[")) {
    if (reader.take("]")) return;
    do parseValue(reader, name, into, depth + 1, true);
    while (reader.take(","));
    reader.expect("]");
  } else into.push({ name, value: parseScalar(reader) });
}

function parseScalar(reader: TokenReader): OptionValue {
  if (reader.peek().kind === "text") return { is: "text", text: reader.text("a string") };
  const sign = reader.take("-") ? "-" : "";
  if (sign === "") reader.take("+");
  const token = reader.peek();
  if (token.kind !== "word" && token.kind !== "integer" && token.kind !== "float")
    throw reader.fault("expected a value");
  reader.next();
  return { is: token.kind === "word" ? "word" : "number", text: sign + token.text };
}

/** A message in text format, as far as its structure goes. */
function parseMessage(reader: TokenReader, name: string, into: ProtoOption[], depth: number): void {
  const close = reader.take("<") ? ">" : "}";
  if (close === "}") reader.expect("{");
  while (!reader.take(close)) {
    const field = reader.at("[") ? parseExtensionName(reader) : reader.word("the name of a field");
    const colon = reader.take(":");
    if (!colon && !reader.at("{") && !reader.at("<")) throw reader.fault('expected ":"');
    parseValue(reader, `${name}.${field}`, into, depth, true);
    if (!reader.take(",")) reader.take(";");
  }
}

/** `[my.extension]` or `[type.googleapis.com/my.Message]`. */
function parseExtensionName(reader: TokenReader): string {
  reader.expect("[");
  let name = reader.path("the name of an extension");
  while (reader.take("/")) name += `/${reader.path("the name of a type")}`;
  reader.expect("]");
  return `(${name})`;
}
