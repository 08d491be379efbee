import type { FastifyRequest } from "fastify";
import type { StreamsError } from "../../src/errors.ts";
import type { ViolationText } from "./problem-document.ts";
import { refusal } from "./refusals.ts";
import { refusalOf } from "./violations.ts";

/** Faults named in one answer. */
const NAMED_MAX = 20;

/**
 * A refused body's faults, all of them: a validator ends at the first, so that a large body cannot make it list millions.
 * Each member of the body is looked at once more by itself, up to its own first fault, so the schema bounds the work.
 * `first`: the refusal of the whole body. Returns it, or one with what the other members add.
 */
export function withFurtherFaults(request: FastifyRequest, first: StreamsError): StreamsError {
  const known = violationsOf(first);
  if (known.some(({ place }) => place !== "body") || known.length === 0) return first;
  const found = [...known];
  for (const [name, schema] of propertiesOf(request.routeOptions.schema?.body)) {
    const value = membersOf(request.body).get(name);
    // What was found in a member is told already, with all that its own rules add.
    if (value === undefined || known.some(({ pointer }) => isWithin(pointer, name))) continue;
    found.push(...faultsOf(request, name, schema, value));
  }
  return found.length === known.length ? first : refusal(found.slice(0, NAMED_MAX));
}

function faultsOf(request: FastifyRequest, name: string, schema: object, value: unknown): readonly ViolationText[] {
  const validate = request.compileValidationSchema(schema);
  if (validate(value)) return [];
  const pointer = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const errors = (validate.errors ?? []).map((error) => ({
    ...error,
    instancePath: `${pointer}${error.instancePath}`,
  }));
  const refused = refusalOf("body", errors);
  return refused === undefined ? [] : violationsOf(refused);
}

function isWithin(pointer: string, name: string): boolean {
  return pointer === `/${name}` || pointer.startsWith(`/${name}/`);
}

function violationsOf({ extra }: StreamsError): readonly ViolationText[] {
  const { violations } = extra;
  return Array.isArray(violations) ? violations : [];
}

function propertiesOf(schema: unknown): readonly (readonly [string, object])[] {
  return [...membersOf(membersOf(schema).get("properties"))].flatMap(([name, property]) =>
    typeof property === "object" && property !== null ? [[name, property] as const] : [],
  );
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
}
