import { FileSchema } from "../../src/config/schema.ts";
import type { SchemaNode } from "../../src/config/schema-node.ts";
import { RELATIONS, relationText } from "../../src/config/relations.ts";
import { formatBytes, formatDuration } from "../../src/config/units.ts";

/** Marks around the generated part of docs/configuration.md. */
export const BEGIN =
  "<!-- generated from src/config: npx vitest run test/config/reference.test.ts with UPDATE_DOCS=1 -->";
export const END = "<!-- end of the generated part -->";

/** The reference of every key, from the schema and the table of limits, as Markdown. */
export function reference(): string {
  const { sections } = collect(FileSchema, "");
  const relations = RELATIONS.map((relation) => `- ${relationText(relation)}: ${relation.why}.`);
  return [
    ...sections,
    "### Relations between limits",
    "A configuration that breaks one is refused; nothing is corrected silently.",
    [...relations, "- sources × sourceFloorBytes ≤ inFlightBytes: every source keeps its floor."].join("\n"),
  ].join("\n\n");
}

/** Paths of all keys, as the file nests them; entries of lists as `[]`. */
export function keys(): readonly string[] {
  return collect(FileSchema, "").paths;
}

interface Collected {
  readonly sections: readonly string[];
  readonly paths: readonly string[];
}

function collect(node: SchemaNode, path: string): Collected {
  const objects = node.discriminator === undefined ? [node] : (node.anyOf ?? []);
  const parts = objects.map((object) => collectObject(object, path));
  return { sections: parts.flatMap(({ sections }) => sections), paths: parts.flatMap(({ paths }) => paths) };
}

function collectObject(object: SchemaNode, path: string): Collected {
  const rows: string[] = [];
  const below: Collected[] = [];
  const paths: string[] = [];
  for (const [key, property] of Object.entries(object.properties ?? {})) {
    const place = path === "" ? key : `${path}.${key}`;
    const child = blockOf(property);
    paths.push(place);
    if (child !== undefined) below.push(collect(child, property.items === undefined ? place : `${place}[]`));
    if (child === undefined || property.items !== undefined) rows.push(row(key, property, object));
  }
  const table = ["| key | default | values | meaning |", "|---|---|---|---|", ...rows].join("\n");
  const title = path === "" ? "the file" : `\`${path}\``;
  const own = rows.length === 0 ? [] : [`### ${title}`, object.description ?? "", table];
  return {
    sections: [...own, ...below.flatMap(({ sections }) => sections)],
    paths: [...paths, ...below.flatMap((part) => part.paths)],
  };
}

/** The schema of the block that a key holds, or that each entry of its list is. */
function blockOf(property: SchemaNode): SchemaNode | undefined {
  if (property.discriminator !== undefined) return property;
  const block = property.items ?? property;
  return block.properties !== undefined && block.unit === undefined ? block : undefined;
}

function row(key: string, property: SchemaNode, object: SchemaNode): string {
  const cells = [`\`${key}\``, defaultText(key, property, object), values(property), property.description ?? ""];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function defaultText(key: string, property: SchemaNode, object: SchemaNode): string {
  if (property.default !== undefined) return `\`${spelled(property, property.default)}\``;
  if (property.computed !== undefined) return property.computed;
  return object.required?.includes(key) === true ? "required" : "none";
}

function spelled(property: SchemaNode, value: unknown): string {
  if (typeof value === "number" && property.unit === "bytes") return formatBytes(value);
  if (typeof value === "number" && property.unit === "ms") return formatDuration(value);
  return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}

function values(property: SchemaNode): string {
  const bounds = () => `${spelled(property, property.minimum)} to ${spelled(property, property.maximum)}`;
  if (property.unit === "bytes") return `size, ${bounds()}`;
  if (property.unit === "ms") return `duration, ${bounds()}`;
  if (property.unit === "start") return "`earliest`, `latest` or a moment";
  if (property.unit === "mapping") return "input name: field number or path";
  if (property.secret === true) return "`${NAME}`";
  if (property.const !== undefined) return word(property);
  if (property.anyOf !== undefined) return property.anyOf.map(word).join(", ");
  if (property.type === "boolean") return "`true`, `false`";
  if (property.type === "integer") return `whole number, ${bounds()}`;
  if (property.type === "array") {
    const { minItems, maxItems } = property;
    return `list of ${minItems === maxItems ? minItems : `${minItems ?? 0} to ${maxItems}`}`;
  }
  if (property.unit === "path") return "path";
  return property.right ?? `text, at most ${property.maxLength} characters`;
}

function word({ const: value }: SchemaNode): string {
  return typeof value === "string" ? `\`${value}\`` : JSON.stringify(value);
}
