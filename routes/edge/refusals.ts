import { StreamsError } from "../../src/errors.ts";
import type { ViolationText } from "./problem-document.ts";

/** Places of a request that can be refused. */
export type Place = ViolationText["place"];

/** A refusal of one place of the request: 400 with the place in the detail and as a violation. */
export function malformed(place: Place, pointer: string, text: string): StreamsError {
  const where = pointer === "" ? place : `${place} ${pointer}`;
  return new StreamsError("REQUEST_MALFORMED", `${where}: ${text}`, { violations: [{ place, pointer, text }] });
}

/** A field that the operation does not know. */
export function unknownField(place: Place, pointer: string, name: string): StreamsError {
  const full = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const text = `unknown field ${JSON.stringify(name)}`;
  return new StreamsError("REQUEST_UNKNOWN_FIELD", `${place} ${full}: ${text}`, {
    violations: [{ place, pointer: full, text }],
  });
}
