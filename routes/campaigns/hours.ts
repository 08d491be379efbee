import type { Rollup } from "../../src/core/counting/keys.ts";
import { malformed } from "../edge/refusals.ts";
import { readSpan } from "../schema/counters.ts";

interface Given {
  readonly by?: Rollup;
  readonly from?: string;
  readonly to?: string;
}

/**
 * Reads a rollup and its span. Only hours have times: a span that changed nothing would be taken for one that did.
 * @throws StreamsError REQUEST_MALFORMED
 */
export function readHours(given: Given, place: "query" | "body") {
  const by = given.by ?? "campaign";
  for (const field of ["from", "to"] as const) {
    if (by !== "hour" && given[field] !== undefined) throw malformed(place, `/${field}`, "only by=hour has times");
  }
  return { by, ...readSpan(given, place) };
}
