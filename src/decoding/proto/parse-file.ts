import type { ProtoFile, ProtoImport, ProtoMethod, ProtoOption, ProtoService } from "./model.ts";
import { within } from "./parse-fields.ts";
import { parseDeclaration } from "./parse-messages.ts";
import type { Declarations } from "./parse-messages.ts";
import { parseOptionStatement } from "./parse-options.ts";
import { TokenReader } from "./reader.ts";
import { tokenize } from "./tokens.ts";
import type { Token } from "./tokens.ts";

/** Editions that are followed. */
const EDITIONS: ReadonlySet<string> = new Set(["2023", "2024"]);
const SYNTAXES: ReadonlySet<string> = new Set(["proto2", "proto3"]);

interface Draft extends Declarations {
  readonly level: string;
  readonly package: string;
  packages: number;
  readonly imports: ProtoImport[];
  readonly options: ProtoOption[];
  readonly services: ProtoService[];
}

/**
 * Parses a .proto file by the grammar of https://protobuf.com/docs/language-spec. Returns how many tokens it has, too.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the file and the line.
 */
export function parseProtoFile(
  path: string,
  source: string,
  maxTokens: number,
): { readonly file: ProtoFile; readonly tokens: number } {
  const tokens = tokenize(path, source, maxTokens);
  const reader = new TokenReader(path, tokens);
  const draft: Draft = {
    level: parseLevel(reader),
    package: packageOf(path, tokens),
    packages: 0,
    imports: [],
    options: [],
    messages: [],
    enums: [],
    extensions: [],
    services: [],
  };
  while (reader.peek().kind !== "end") parseStatement(reader, draft);
  return { file: { ...draft, path }, tokens: tokens.length };
}

/** The package, wherever its statement stands: it is part of the names of what is declared before it, too. */
function packageOf(path: string, tokens: readonly Token[]): string {
  let depth = 0;
  let begins = true;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind === "word" && text === "package" && begins && depth === 0) {
      return new TokenReader(path, tokens.slice(index + 1)).path("the name of a package");
    }
    if (kind === "symbol" && text === "{") depth += 1;
    if (kind === "symbol" && text === "}") depth -= 1;
    begins = kind === "symbol" && (text === ";" || text === "}");
  }
  return "";
}

/** A file without such a line is proto2. */
function parseLevel(reader: TokenReader): string {
  while (reader.take(";"));
  const word = ["syntax", "edition"].find((name) => reader.take(name));
  if (word === undefined) return "proto2";
  reader.expect("=");
  const level = reader.text(`the ${word}`);
  const known = word === "syntax" ? SYNTAXES : EDITIONS;
  if (!known.has(level)) throw reader.fault(`${word} "${level}" is not supported`);
  reader.expect(";");
  return level;
}

function parseStatement(reader: TokenReader, draft: Draft): void {
  const scope = draft.package;
  if (reader.take(";") || parseDeclaration({ reader, level: draft.level, scope, depth: 0 }, draft)) return;
  if (reader.take("import")) draft.imports.push(parseImport(reader));
  else if (reader.take("option")) parseOptionStatement(reader, draft.options);
  else if (reader.take("service")) draft.services.push(parseService(reader, scope));
  else if (reader.at("package")) parsePackage(reader, draft);
  else if (reader.at("syntax") || reader.at("edition")) {
    throw reader.fault(`"${reader.peek().text}" must be the first statement, and the only one of its kind`);
  } else throw reader.fault(`expected a statement instead of "${reader.peek().text.slice(0, 64)}"`);
}

function parsePackage(reader: TokenReader, draft: Draft): void {
  draft.packages += 1;
  if (draft.packages > 1) throw reader.fault("a second package");
  reader.expect("package");
  reader.path("the name of a package");
  reader.expect(";");
}

function parseImport(reader: TokenReader): ProtoImport {
  const kind = (["public", "weak", "option"] as const).find((word) => reader.take(word)) ?? "plain";
  const path = reader.text("the path of an import");
  reader.expect(";");
  return { path, kind };
}

function parseService(reader: TokenReader, scope: string): ProtoService {
  const name = reader.word("the name of a service");
  const fullName = within(scope, name);
  const options: ProtoOption[] = [];
  const methods: ProtoMethod[] = [];
  reader.expect("{");
  while (!reader.take("}")) {
    if (reader.take(";")) continue;
    if (reader.take("option")) parseOptionStatement(reader, options);
    else methods.push(parseMethod(reader, fullName));
  }
  return { file: reader.file, fullName, name, options, methods };
}

function parseMethod(reader: TokenReader, scope: string): ProtoMethod {
  reader.expect("rpc");
  const name = reader.word("the name of a method");
  const types = [parseMethodType(reader)];
  reader.expect("returns");
  types.push(parseMethodType(reader));
  const options: ProtoOption[] = [];
  if (reader.take("{")) {
    while (!reader.take("}")) {
      if (reader.take(";")) continue;
      reader.expect("option");
      parseOptionStatement(reader, options);
    }
  } else reader.expect(";");
  return { file: reader.file, fullName: within(scope, name), name, options, types };
}

function parseMethodType(reader: TokenReader): string {
  reader.expect("(");
  if (reader.at("stream") && !reader.at(")", 1)) reader.next();
  const type = reader.path("the type of a method", true);
  reader.expect(")");
  return type;
}
