import protobuf from "protobufjs";
import { StreamsError } from "../errors.ts";
import type { ProtoFiles } from "../ports/decoder.ts";
import { FALLBACK_FILES, WELL_KNOWN_FILES } from "./well-known.ts";

/** Editions whose features protobufjs resolves and this decoder follows. */
const EDITIONS: ReadonlySet<string> = new Set(["2023", "2024"]);
const SYNTAXES: ReadonlySet<string> = new Set(["proto2", "proto3"]);

/** Builds the error that a faulty descriptor is refused with. */
export function descriptorInvalid(detail: string, cause?: unknown): StreamsError {
  return new StreamsError("DESCRIPTOR_INVALID", detail, {}, cause === undefined ? undefined : { cause });
}

/**
 * Parses .proto files and what they import into one protobufjs root. Each call has a root of its own. Features are not
 * resolved yet: see {@link resolveFeatures}.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the file, import, type or line.
 */
export function parseProtoFiles(files: ProtoFiles): protobuf.Root {
  const root = new protobuf.Root();
  const done = new Set<string>();
  // An own queue instead of protobufjs' loader, which reads files of this machine.
  const queue = Object.keys(files).toSorted();
  if (queue.length === 0) throw descriptorInvalid("there are no files");
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    if (done.has(name)) continue;
    done.add(name);
    const source = sourceOf(files, name);
    if (source === undefined) throw descriptorInvalid(`the import "${name}" is neither uploaded nor well-known`);
    checkTokens(name, source);
    queue.push(...parseFile(root, name, source));
  }
  return root;
}

function sourceOf(files: ProtoFiles, name: string): string | undefined {
  const uploaded = Object.hasOwn(files, name) ? files[name] : undefined;
  return WELL_KNOWN_FILES.get(name) ?? uploaded ?? FALLBACK_FILES.get(name);
}

/** Parses one file into the root. Returns its imports. */
function parseFile(root: protobuf.Root, name: string, source: string): string[] {
  // protobufjs keeps the current file's name in a static property, and leaves it there when it throws.
  Reflect.set(protobuf.parse, "filename", name);
  try {
    const parsed = protobuf.parse(source, root, { keepCase: true });
    return [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])];
  } catch (error) {
    throw descriptorInvalid(`${name}: ${messageOf(error)}`, error);
  } finally {
    Reflect.set(protobuf.parse, "filename", null);
  }
}

/** Refuses what protobufjs would drop or read without a word. */
function checkTokens(name: string, source: string): void {
  const tokens = nextToken(name, source);
  for (let token = tokens.next(); token !== null; token = tokens.next()) {
    if (token === '"' || token === "'") {
      tokens.next();
      tokens.next();
    } else if (token.split(".").includes("__proto__")) {
      throw descriptorInvalid(`${name}: the name "__proto__" is not allowed (line ${tokens.line()})`);
    } else if (token === "syntax" || token === "edition") {
      checkLevel(name, token, tokens.next);
    }
  }
}

function nextToken(name: string, source: string): { next: () => string | null; line: () => number } {
  const handle = protobuf.tokenize(source, false);
  const next = (): string | null => {
    try {
      return handle.next();
    } catch (error) {
      throw descriptorInvalid(`${name}: ${messageOf(error)}`, error);
    }
  };
  return { next, line: () => handle.line };
}

/** `syntax = "proto3"` or `edition = "2023"`; anything else that begins with these words is left to the parser. */
function checkLevel(name: string, word: "syntax" | "edition", next: () => string | null): void {
  if (next() !== "=") return;
  const quote = next();
  if (quote !== '"' && quote !== "'") return;
  const level = next() ?? "";
  next();
  const known = word === "syntax" ? SYNTAXES : EDITIONS;
  if (!known.has(level)) throw descriptorInvalid(`${name}: ${word} "${level}" is not supported`);
}

/** Known features and their values; others are refused, since a decoder that ignores one reads wrongly. */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  "features.field_presence": ["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"],
  "features.enum_type": ["OPEN", "CLOSED"],
  "features.repeated_field_encoding": ["PACKED", "EXPANDED"],
  "features.utf8_validation": ["VERIFY", "NONE"],
  "features.message_encoding": ["LENGTH_PREFIXED", "DELIMITED"],
  "features.json_format": ["ALLOW", "LEGACY_BEST_EFFORT"],
  "features.enforce_naming_style": ["STYLE2024", "STYLE_LEGACY"],
  "features.default_symbol_visibility": ["EXPORT_ALL", "EXPORT_TOP_LEVEL", "LOCAL_ALL", "STRICT"],
};

/** Refuses a feature that is not in {@link FEATURES}. Features of a language, in parentheses, concern its code only. */
export function checkFeatures(object: protobuf.ReflectionObject): void {
  const features: unknown = object.options?.["features"];
  if (typeof features !== "object" || features === null) return;
  for (const [feature, value] of Object.entries(features)) {
    if (feature.startsWith("(")) continue;
    if (!(FEATURES[`features.${feature}`] ?? []).includes(String(value))) {
      throw descriptorInvalid(`${nameOf(object)}: feature ${feature} = ${String(value)} is not supported`);
    }
  }
}

/** One resolved feature of an object in a file with an edition. */
export function featureOf(object: protobuf.ReflectionObject, feature: string): string {
  // protobufjs shows some of these as getters, which fall back to its own name lookup, and enum_type not at all.
  const features: unknown = Reflect.get(object, "_features");
  const value: unknown = typeof features === "object" && features !== null ? Reflect.get(features, feature) : undefined;
  const known = FEATURES[`features.${feature}`] ?? [];
  if (typeof value === "string" && known.includes(value)) return value;
  throw descriptorInvalid(`${nameOf(object)}: feature ${feature} cannot be resolved`);
}

/** Syntax or edition of the file that declares an object. */
export function editionOf(object: protobuf.ReflectionObject): string {
  for (let at: protobuf.ReflectionObject | null = object; at !== null; at = at.parent) {
    const edition: unknown = Reflect.get(at, "_edition");
    if (typeof edition === "string") return edition;
  }
  return "proto2";
}

/** Full name without the leading dot. */
export function nameOf(object: protobuf.ReflectionObject): string {
  return object.fullName.replace(/^\./, "");
}

/** Resolves the features of every object. Types are to be looked up before, for protobufjs' errors name no file. */
export function resolveFeatures(root: protobuf.Root): void {
  try {
    root.resolveAll();
  } catch (error) {
    throw descriptorInvalid(messageOf(error), error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
