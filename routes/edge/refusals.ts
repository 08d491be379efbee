import { StreamsError } from "../../src/errors.ts";
import type { ViolationText } from "./problem-document.ts";

/** Places of a request that can be refused. */
export type Place = ViolationText["place"];

/** A refusal of one place of the request: 400 with the place in the detail and as a violation. */
export function malformed(place: Place, pointer: string, text: string): StreamsError {
  return refusal([{ place, pointer, text }]);
}

/** A refusal of several places at once. A field that is unknown decides the code. */
export function refusal(violations: readonly ViolationText[]): StreamsError {
  const unknown = violations.some(({ text }) => text.startsWith(UNKNOWN));
  const detail = violations.map(
    ({ place, pointer, text }) => `${pointer === "" ? place : `${place} ${pointer}`}: ${text}`,
  );
  const code = unknown ? "REQUEST_UNKNOWN_FIELD" : "REQUEST_MALFORMED";
  return new StreamsError(code, detail.join("; "), { violations: [...violations] });
}

const UNKNOWN = "unknown field ";

/** A field that the operation does not know. */
export function unknownField(place: Place, pointer: string, name: string): ViolationText {
  const full = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return { place, pointer: full, text: `${UNKNOWN}${JSON.stringify(name)}` };
}

/** A field that the operation needs; `pointer`: the object without it. */
export function missingField(place: Place, pointer: string, name: string): ViolationText {
  return { place, pointer, text: `field ${JSON.stringify(name)} is missing` };
}
