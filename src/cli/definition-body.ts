import { isDeepStrictEqual } from "node:util";
import type { SourceSeed } from "../config/index.ts";

/** A source's definition as the API spells it. */
export type DefinitionBody = Readonly<Record<string, unknown>>;

/** Whether a value of an answer is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The definition that the file wants. What the file leaves open (descriptor version and message, mapping) stays as it is
 * in force while kind and descriptor subject stay the same. Otherwise a text says what the file must name.
 */
export function desiredDefinition(source: SourceSeed, inForce: DefinitionBody): DefinitionBody | string {
  const { descriptor, mapping, startFrom, ...rest } = source;
  const present = isRecord(inForce["descriptor"]) ? inForce["descriptor"] : {};
  const sameShape = source.kind === inForce["kind"] && descriptor?.subject === present["subject"];
  const kept = sameShape ? present : {};
  const resolved =
    descriptor === undefined
      ? undefined
      : {
          subject: descriptor.subject,
          version: descriptor.version ?? kept["version"],
          message: descriptor.message ?? kept["message"],
        };
  const keptMapping = sameShape ? inForce["mapping"] : undefined;
  const resolvedMapping = mapping ?? (descriptor === undefined ? {} : keptMapping);
  const open = [
    ...(resolved !== undefined && resolved.version === undefined ? ["descriptor.version"] : []),
    ...(resolved !== undefined && resolved.message === undefined ? ["descriptor.message"] : []),
    ...(resolvedMapping === undefined ? ["mapping"] : []),
  ];
  if (open.length > 0) return `name ${open.join(", ")} in the file: what is in force is of another kind or subject`;
  return {
    ...rest,
    ...(resolved === undefined ? {} : { descriptor: resolved }),
    mapping: resolvedMapping,
    startFrom: spelledStart(startFrom),
  };
}

/** A new source as the API takes it: what the file leaves open is left to the service. */
export function seedBody({ startFrom, ...rest }: SourceSeed): DefinitionBody {
  return { ...rest, startFrom: spelledStart(startFrom) };
}

function spelledStart(startFrom: SourceSeed["startFrom"]): unknown {
  return typeof startFrom === "string" ? startFrom : { timestamp: new Date(startFrom.timestampMs).toISOString() };
}

/** Members in which two definitions differ, in alphabetical order. */
export function changedMembers(inForce: DefinitionBody, desired: DefinitionBody): readonly string[] {
  const members = new Set([...Object.keys(inForce), ...Object.keys(desired)]);
  return [...members].filter((member) => !isDeepStrictEqual(inForce[member], desired[member])).toSorted();
}
