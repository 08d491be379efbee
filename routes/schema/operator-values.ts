import { Type } from "@sinclair/typebox";
import { malformed, type Place } from "../edge/refusals.ts";
import { isWritableTime, OFFSET_PATTERN, TimeInput } from "./values.ts";

/**
 * Why an operator does something: kept for ever in the audit log. One line, without control characters (C0, C1) or characters
 * that turn the direction of text: whoever reads it in a terminal or a log must see what was written.
 */
export const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: "^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]*$",
  description: "Why, for whoever reads the audit log: one line of at most 500 characters, without control characters.",
  examples: ["retention was shorter than the outage"],
});

/** A time in a query. */
export const TimeQuery = (description: string) => Type.Optional(TimeInput(description));

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

/**
 * Reads a time that its pattern admitted. Rounded up to milliseconds, in which brokers keep time: what is before a finer
 * moment is before that one too. @throws StreamsError REQUEST_MALFORMED for a time that no calendar has, or before 1970
 */
export function readTime(text: string | undefined, place: Place, pointer: string): number | undefined {
  return text === undefined ? undefined : readMoment(text, place, pointer, "up");
}

/** The same; rounded down where something begins: of a finer moment nothing at or after it is missed. */
export function readMoment(text: string, place: Place, pointer: string, rounding: "up" | "down"): number {
  const [date, rest] = [text.slice(0, 10), text.slice(10).toUpperCase()];
  const [, clock = "", fraction = "", zone = ""] = /^T([0-9:]{8})(?:\.([0-9]+))?(.+)$/.exec(rest) ?? [];
  const seconds = Date.parse(`${date}T${clock}${zone}`);
  const finer = rounding === "up" && /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  const ms = seconds + Number(fraction.slice(0, 3).padEnd(3, "0")) + finer;
  // Date.parse rolls 30 February over into March.
  const day = new Date(`${date}T00:00:00.000Z`);
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
  if (!exists || !isWritableTime(ms))
    throw malformed(place, pointer, "no calendar has this time between 1970 and 9999");
  return ms;
}
