import type { RouteOptions } from "fastify";
import { ROLES } from "../../src/access/index.ts";
import { ANY_JSON_COMMENT } from "./closed.ts";

type Node = Readonly<Record<string, unknown>>;

/** Where a schema stands: requests may not hold a place for any JSON. */
type Side = "request" | "response";

const SUBSCHEMAS = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"] as const;
const SUBSCHEMA_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const SUBSCHEMA_MAPS = ["properties", "patternProperties", "$defs", "definitions"] as const;
/** What says of which kind a value is. A schema without any admits everything. */
const DECIDING = ["type", "const", "enum", "anyOf", "oneOf", "allOf", "$ref"] as const;

/**
 * Refuses a route whose contract is not closed (I10), when it is registered: an open object or a schema without a type at
 * any depth, an intersection (closed parts never match together), a missing params, query or response schema, a missing
 * role, or one without the words that the OpenAPI document needs.
 * @throws Error naming the route and the place
 */
export function guardRoute(route: RouteOptions): void {
  const name = `${[route.method].flat().join(",")} ${route.url}`;
  const schema = asNode(route.schema, `${name} schema`);
  for (const word of ["operationId", "summary", "description", "tags"]) {
    if (schema[word] === undefined) throw new Error(`route ${name} has no ${word}`);
  }
  const access = route.config?.access;
  if (access !== "public" && !ROLES.some((role) => role === access)) throw new Error(`route ${name} has no access`);
  for (const part of ["params", "querystring"]) {
    if (schema[part] === undefined) throw new Error(`route ${name} has no ${part} schema`);
    walk(schema[part], `${name} ${part}`, "request");
  }
  if (schema["headers"] !== undefined)
    throw new Error(`route ${name} has a headers schema: clients send headers of their own`);
  if (schema["body"] !== undefined) walk(schema["body"], `${name} body`, "request");
  guardResponses(schema["response"], name);
}

function guardResponses(response: unknown, name: string): void {
  if (response === undefined) throw new Error(`route ${name} has no response schema`);
  const statuses = Object.entries(asNode(response, `${name} response`));
  if (!statuses.some(([status]) => status.startsWith("2")))
    throw new Error(`route ${name} has no response schema of success`);
  for (const [status, declared] of statuses) {
    const place = `${name} response ${status}`;
    const content = asNode(declared, place)["content"];
    if (content === undefined) {
      walk(declared, place, "response");
      continue;
    }
    for (const [type, media] of Object.entries(asNode(content, place))) {
      walk(asNode(media, place)["schema"], `${place} ${type}`, "response");
    }
  }
}

/** Walks a schema to every depth. @throws Error at the first place that is open */
export function walk(value: unknown, place: string, side: Side): void {
  const node = asNode(value, place);
  if (side === "response" && node["$comment"] === ANY_JSON_COMMENT) return;
  if (!DECIDING.some((keyword) => node[keyword] !== undefined)) throw new Error(`${place} admits any value`);
  if (node["allOf"] !== undefined)
    throw new Error(`${place} is an intersection: spread the properties into one object`);
  if (Array.isArray(node["type"])) throw new Error(`${place} has several types: use a union`);
  if (isObjectSchema(node) && !isClosed(node)) throw new Error(`${place} is an open object`);
  if (node["type"] === "array" && node["items"] === undefined) throw new Error(`${place} is an array of anything`);
  for (const keyword of SUBSCHEMAS) {
    if (node[keyword] !== undefined && typeof node[keyword] !== "boolean")
      walk(node[keyword], `${place}/${keyword}`, side);
  }
  for (const keyword of SUBSCHEMA_LISTS) {
    const list = node[keyword];
    if (Array.isArray(list)) list.forEach((member, index) => walk(member, `${place}/${keyword}/${index}`, side));
  }
  for (const keyword of SUBSCHEMA_MAPS) {
    const members = node[keyword];
    if (members === undefined) continue;
    for (const [key, member] of Object.entries(asNode(members, place)))
      walk(member, `${place}/${keyword}/${key}`, side);
  }
}

function isObjectSchema(node: Node): boolean {
  return node["type"] === "object" || node["properties"] !== undefined || node["additionalProperties"] !== undefined;
}

/** Closed to other keys, or a map whose keys have a pattern. */
function isClosed(node: Node): boolean {
  if (node["type"] !== "object") return false;
  if (node["additionalProperties"] === false) return true;
  const names = node["propertyNames"];
  return (
    typeof node["additionalProperties"] === "object" &&
    typeof names === "object" &&
    names !== null &&
    "pattern" in names
  );
}

function asNode(value: unknown, place: string): Node {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${place} is missing or not a schema`);
  return Object.fromEntries(Object.entries(value));
}
