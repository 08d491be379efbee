import type { FastifyError } from "fastify";
import type { StreamsError } from "../../src/errors.ts";
import { OFFSET_PATTERN, TIME_INPUT_PATTERN, TIME_PATTERN } from "../schema/values.ts";
import type { ViolationText } from "./problem-document.ts";
import { missingField, type Place, refusal, unknownField } from "./refusals.ts";

type Violation = NonNullable<FastifyError["validation"]>[number];

/** Fields named in one answer. */
const NAMED_MAX = 20;

/** What a time that callers send has to be. */
export const TIME_TEXT =
  "must be an RFC 3339 time with an offset or Z, from 1970 to 9999, as 2026-11-30T08:15:00Z or 2026-11-30T09:15:00.5+01:00";

/** What a pattern means, for people. */
const TEXT_OF_PATTERN: Readonly<Record<string, string>> = {
  [TIME_INPUT_PATTERN]: TIME_TEXT,
  [TIME_PATTERN]: "must be an RFC 3339 time in UTC with milliseconds, as 2026-11-30T08:15:00.000Z",
  [OFFSET_PATTERN]: "must be an offset: decimal digits in a string, without sign or leading zero",
};

/**
 * What a validator found, as a refusal. It ends at the first fault, so that a large body cannot make it list millions; but
 * where fields are missing or unknown, all of that object are named: a misspelt one is both. Of a union the branch that
 * came nearest speaks. Undefined when nothing was found.
 */
export function refusalOf(place: Place, found: readonly Violation[]): StreamsError | undefined {
  const names = found.find(({ keyword }) => keyword === "additionalProperties" || keyword === "required");
  const unknown = found.find(({ keyword }) => keyword === "additionalProperties") ?? names;
  if (unknown !== undefined) return refusal(fieldsOf(place, unknown));
  const last = found.at(-1);
  if (last === undefined) return undefined;
  const { pointer, text } = last.keyword === "anyOf" ? nearest(found.slice(0, -1), last) : told(last);
  return refusal([
    { place, pointer, text: place === "query" && text === TIME_TEXT ? `${text} (+ is %2B there)` : text },
  ]);
}

/** Every unknown and every missing field of the object that one of them was found in. */
function fieldsOf(place: Place, { instancePath, params, ...rest }: Violation): readonly ViolationText[] {
  const verbose = new Map<string, unknown>(Object.entries(rest));
  const schema = membersOf(verbose.get("parentSchema"));
  const present = [...membersOf(verbose.get("data")).keys()];
  const known = membersOf(schema.get("properties"));
  const required = schema.get("required");
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const first = { unknown: params["additionalProperty"], missing: params["missingProperty"] };
  const closed = schema.get("additionalProperties") === false;
  const unknown = closed ? present.filter((name) => !known.has(name)) : [first.unknown];
  const missing = schema.size > 0 ? needed.filter((name) => !present.includes(name)) : [first.missing];
  return [
    ...unknown.flatMap((name) => (typeof name === "string" ? [unknownField(place, instancePath, name)] : [])),
    ...missing.flatMap((name) => (typeof name === "string" ? [missingField(place, instancePath, name)] : [])),
  ].slice(0, NAMED_MAX);
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

/** The branches that went deepest; of these, those that are of the value's own type. */
function nearest(
  branches: readonly Violation[],
  whole: Violation,
): { readonly pointer: string; readonly text: string } {
  const depth = ({ instancePath }: Violation) => instancePath.split("/").length;
  const deepest = Math.max(...branches.map(depth));
  const near = branches.filter((violation) => depth(violation) === deepest);
  const fitting = near.filter(({ keyword }) => keyword !== "type" && keyword !== "const");
  const isText = typeof new Map<string, unknown>(Object.entries(whole)).get("data") === "string";
  const words = near.filter(({ keyword }) => keyword === "const" && (isText || fitting.length === 0));
  const chosen = fitting.length === 0 ? near : [...words, ...fitting];
  const texts = new Set(chosen.map((violation) => told(violation).text));
  return { pointer: chosen[0]?.instancePath ?? whole.instancePath, text: [...texts].join(", or ") };
}

function told({ instancePath, keyword, params, message }: Violation): {
  readonly pointer: string;
  readonly text: string;
} {
  const text = textOf(keyword, params) ?? message ?? `violates ${keyword}`;
  return { pointer: instancePath, text };
}

function textOf(keyword: string, params: Violation["params"]): string | undefined {
  if (keyword === "enum" && Array.isArray(params["allowedValues"]))
    return `must be one of ${params["allowedValues"].join(", ")}`;
  if (keyword === "const") return `must be ${JSON.stringify(params["allowedValue"])}`;
  return keyword === "pattern" ? TEXT_OF_PATTERN[String(params["pattern"])] : undefined;
}
