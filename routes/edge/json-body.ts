import { StreamsError } from "../../src/errors.ts";
import { scanStrictJson } from "../../src/decoding/json-scan.ts";

/** Why a body was refused, by the scanner's code. */
const REASONS: Readonly<Record<string, string>> = {
  DECODE_UTF8: "it is not UTF-8, or begins with a byte order mark",
  DECODE_JSON: "it is not JSON (RFC 8259)",
  DECODE_JSON_DUPLICATE: "an object has the same key twice, compared after unescaping",
  DECODE_JSON_PROTOTYPE:
    "it has a key __proto__, constructor or prototype: such a key could change the objects of the program that reads it",
  DECODE_JSON_NUMBER: "it has a number with more digits than would be kept",
  DECODE_DEPTH: "it is nested too deeply",
};

/**
 * Reads a JSON body strictly.
 * @throws StreamsError BODY_NOT_JSON with the reason and the byte where it begins, never with the body's content
 */
export function readJsonBody(bytes: Uint8Array, maxDepth: number): unknown {
  if (bytes.length === 0) throw new StreamsError("BODY_NOT_JSON", "the body is empty");
  const scan = scanStrictJson(bytes, { maxDepth, prototypeKeys: "refuse", lossyNumbers: "refuse" });
  if ("text" in scan && !("code" in scan)) return JSON.parse(scan.text);
  const reason = REASONS[scan.code] ?? scan.text;
  const at = scan.byteOffset === undefined ? "" : ` (at byte ${scan.byteOffset})`;
  throw new StreamsError("BODY_NOT_JSON", `the body was refused: ${reason}${at}`);
}
