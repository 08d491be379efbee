import { Type } from "@sinclair/typebox";
import { malformed, type Place } from "../edge/refusals.ts";
import { OFFSET_PATTERN, TIME_PATTERN } from "./values.ts";

/** Why an operator does something: kept for ever in the audit log. */
export const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: "\\S",
  description: "Why, for whoever reads the audit log. At most 500 characters.",
  examples: ["retention was shorter than the outage"],
});

/** A time in a query. */
export const TimeQuery = (description: string) =>
  Type.Optional(Type.String({ pattern: TIME_PATTERN, description, examples: ["2026-11-30T08:15:00.000Z"] }));

/** Name of a token in a query. */
export const ActorQuery = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: "Name of the token that called." }),
);

/** Where to go on in a list. */
export const CursorQuery = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: "`next` of the answer before, unchanged." }),
);

/** Cursor of the rest of a list. */
export const Next = Type.Optional(
  Type.String({ description: "There is more: send it as `cursor`. Absent at the end." }),
);

/** An offset, or a place by its name. */
export const ResumePoint = Type.String({
  pattern: `^(?:log-start|copy|committed|${OFFSET_PATTERN.slice(1, -1)})$`,
  description:
    "An offset, `log-start`, `copy` (how far everything was applied) or `committed` (the group's committed offset).",
  examples: ["log-start"],
});

/** Reads a time that its pattern admitted. @throws StreamsError REQUEST_MALFORMED for a time that no calendar has */
export function readTime(text: string | undefined, place: Place, pointer: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== text)
    throw malformed(place, pointer, "no calendar has this time");
  return ms;
}
