import { shown } from "./fault.ts";
import { nearest } from "./nearest.ts";
import type { Leaf, SchemaNode } from "./schema-node.ts";
import { formatBytes, formatDuration, parseBytes, parseDuration, parseTimestamp } from "./units.ts";

/** A leaf that fits, or what is wrong with it. */
export type LeafOutcome =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly fault: { readonly found: string; readonly right: string } };

/** Reads one leaf along its schema. */
export function readLeaf(schema: SchemaNode, leaf: Leaf): LeafOutcome {
  const right = `write ${wantedText(schema)}`;
  if (schema.secret === true && leaf.variables.length === 0) {
    return { fault: { found: "the secret stands in the file itself", right } };
  }
  const value = parse(schema, leaf);
  if (value !== undefined) return { value };
  const isWord = schema.anyOf !== undefined && schema.unit === undefined && leaf.variables.length === 0;
  return {
    fault: { found: foundText(schema, leaf), right: isWord ? oneOfText(words(schema), String(leaf.value)) : right },
  };
}

/** What to say when a word is none of those allowed. */
export function oneOfText(allowed: readonly string[], found: string): string {
  const near = nearest(found, allowed);
  return `write one of ${allowed.join(", ")}${near === undefined ? "" : ` (did you mean ${near}?)`}`;
}

function foundText(schema: SchemaNode, leaf: Leaf): string {
  if (leaf.variables.length > 0) return `the value from ${leaf.variables.join(", ")} (not shown) does not fit`;
  if (schema.unit === "mapping") return "the value does not fit";
  return `the value is ${typeof leaf.value === "string" ? "the text " : ""}${shown(leaf.value)}`;
}

function parse(schema: SchemaNode, leaf: Leaf): unknown {
  switch (schema.unit) {
    case "bytes":
      return within(schema, parseBytes(leaf.value));
    case "ms":
      return within(schema, parseDuration(leaf.value));
    case "start":
      return parseStart(leaf.value);
    case "mapping":
      return parseMapping(leaf.value);
    default:
      return parsePlain(schema, leaf);
  }
}

function parsePlain(schema: SchemaNode, leaf: Leaf): unknown {
  const { value } = leaf;
  if (schema.const !== undefined) return value === schema.const ? value : undefined;
  if (schema.anyOf !== undefined) return schema.anyOf.some((word) => word.const === value) ? value : undefined;
  switch (schema.type) {
    case "integer":
      return within(schema, integer(leaf));
    case "number":
      return within(schema, number(leaf));
    case "boolean":
      return boolean(leaf);
    case "string":
      return typeof value === "string" ? text(schema, value) : undefined;
    default:
      return undefined;
  }
}

// A variable can hold only text, so there and only there digits are a number and "true" is a boolean.
function integer({ value, variables }: Leaf): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : undefined;
  return variables.length > 0 && typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function number({ value, variables }: Leaf): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  return variables.length > 0 && typeof value === "string" && /^\d{1,15}(\.\d{1,15})?$/.test(value)
    ? Number(value)
    : undefined;
}

function boolean({ value, variables }: Leaf): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (variables.length === 0) return undefined;
  return value === "true" ? true : value === "false" ? false : undefined;
}

function text(schema: SchemaNode, value: string): string | undefined {
  const length = value.length;
  if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Infinity)) return undefined;
  if (schema.unit === "path" && value.includes("\0")) return undefined;
  return schema.pattern === undefined || new RegExp(schema.pattern).test(value) ? value : undefined;
}

function within(schema: SchemaNode, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity) ? value : undefined;
}

function parseStart(value: unknown): unknown {
  if (value === "earliest" || value === "latest") return value;
  const timestampMs = typeof value === "string" ? parseTimestamp(value) : undefined;
  return timestampMs === undefined ? undefined : { timestampMs };
}

const FIELD_NUMBER_MAX = 536_870_911;

function parseMapping(value: unknown): Record<string, number[]> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const result: Record<string, number[]> = {};
  for (const [input, spelled] of Object.entries(value)) {
    const path = parseFieldPath(spelled);
    if (path === undefined || !/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(input)) return undefined;
    result[input] = path;
  }
  return result;
}

/** A field number, a list of them, or the text `3.1`. (YAML reads an unquoted 3.1 as a fraction: refused.) */
function parseFieldPath(value: unknown): number[] | undefined {
  const parts: unknown[] =
    typeof value === "string" ? (/^\d+(\.\d+)*$/.test(value) ? value.split(".").map(Number) : []) : [value].flat();
  const numbers = parts.filter(
    (part): part is number =>
      typeof part === "number" && Number.isInteger(part) && part >= 1 && part <= FIELD_NUMBER_MAX,
  );
  return numbers.length === parts.length && parts.length >= 1 && parts.length <= 16 ? numbers : undefined;
}

function words(schema: SchemaNode): readonly string[] {
  return (schema.anyOf ?? []).map((word) => String(word.const));
}

/** What a schema wants, for people. */
export function wantedText(schema: SchemaNode): string {
  if (schema.right !== undefined) return schema.right;
  if (schema.unit === "bytes") return `a size such as 64MiB, ${range(schema, formatBytes)}`;
  if (schema.unit === "ms") return `a duration such as 500ms, 30s, 48h or 7d, ${range(schema, formatDuration)}`;
  if (schema.anyOf !== undefined) return `one of ${words(schema).join(", ")}`;
  if (schema.type === "integer") return `a whole number, ${range(schema, String)}`;
  if (schema.type === "number") return `a number, ${range(schema, String)}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "array") return "a list";
  if (schema.type === "string") return `text of at most ${schema.maxLength ?? 4096} characters`;
  return "a block of keys";
}

function range(schema: SchemaNode, spell: (value: number) => string): string {
  return `${spell(schema.minimum ?? 0)} to ${spell(schema.maximum ?? Number.MAX_SAFE_INTEGER)}`;
}
