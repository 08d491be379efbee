import { type Static, Type } from "@sinclair/typebox";
import { DOCUMENT_ID_BYTES_MAX } from "../../src/core/keys.ts";
import type { CounterPage, SlotShare } from "../../src/ports/counters.ts";
import { malformed } from "../edge/refusals.ts";
import { Closed, defined } from "./closed.ts";
import { readTime } from "./operator-values.ts";
import { Count, NAME_PATTERN, OffsetText, PartitionNumber, Text, TimeInput, offsetText, timeText } from "./values.ts";

/** Standard error of the estimate of distinct visitors, stated where it is shown. */
export const VISITORS_ERROR_PERCENT = 1.63;

/** A count: it may outgrow the integers that JSON readers keep exactly. */
export const CountText = Type.String({
  pattern: "^(?:0|[1-9][0-9]*)$",
  description: "Decimal, exact.",
  examples: ["17"],
});

export const NamespaceQuery = Type.Optional(
  Type.String({ pattern: NAME_PATTERN, description: "Namespace; needed where several sources of the kind count." }),
);

/** A cursor of counters is a key of a slot. */
export const CounterCursor = Type.Optional(
  Type.String({ pattern: "^[A-Za-z0-9_-]{1,2600}$", description: "`next` of the answer before, unchanged." }),
);

export const BreakdownQuery = Type.Optional(
  Type.Literal("slots", { description: "Shows the slots that were summed: each row's share, with its range." }),
);

/** Beginning of the spans that are wanted. */
export const FromTime = Type.Optional(TimeInput("Spans that start at or after this time."));
/** End of the spans that are wanted. */
export const ToTime = Type.Optional(TimeInput("Spans that start before this time."));

/** An entity in a path. */
export function EntityId(what: string) {
  return Type.String({
    minLength: 1,
    maxLength: 512,
    description: `Id of the ${what}: 1 to 512 bytes of UTF-8 before percent-encoding.`,
    examples: [`${what}-17`],
  });
}

/** Keys of a bulk read. */
export function EntityIds(what: string) {
  return Type.Array(EntityId(what), { minItems: 1, maxItems: 1_000, description: "At most 1,000." });
}

export const AsOf = Type.Array(
  Type.Union([
    Closed({ partition: PartitionNumber, known: Type.Literal(true), offset: OffsetText }),
    Closed({ partition: PartitionNumber, known: Type.Literal(false), cause: Text("Why it is not known.") }),
  ]),
  { description: "Everything of a partition below `offset` is in the answer; what came later may be." },
);

export const Slots = Type.Optional(
  Type.Array(
    Closed({
      partition: PartitionNumber,
      log: Count("Log of the row: 0, or the topic epoch that an operator opened it with."),
      row: Count("Number of the ledger row."),
      from: OffsetText,
      until: OffsetText,
      revision: Count("Revision that the row is counted under."),
      offset: OffsetText,
      counters: Type.Array(CountText, { description: "As stored; scores in billionths." }),
      visitors: Type.Optional(Count("Estimate.")),
    }),
    { description: "With `breakdown=slots`: each row's share, up to and with the record at `offset`." },
  ),
);

/** Writes slots as the API spells them. */
export function slotBodies(slots: readonly SlotShare[] | undefined): Static<typeof Slots> | undefined {
  return slots?.map(({ from, until, offset, counters, visitors, ...rest }) =>
    defined({
      ...rest,
      from: offsetText(from) ?? "0",
      until: offsetText(until) ?? "0",
      offset: offsetText(offset) ?? "0",
      counters: counters.map((counter) => `${counter}`),
      visitors: estimate(visitors),
    }),
  );
}

/** A whole number of visitors. */
export function estimate(visitors: number | undefined): number | undefined {
  return visitors === undefined ? undefined : Math.round(visitors);
}

/** What every answer about counters says of itself. */
export function pageBody<Item>({ namespace, source, asOf, readAt, next }: Omit<CounterPage<Item>, "items">) {
  return defined({
    namespace,
    source,
    asOf: asOf.map((entry) =>
      entry.known
        ? { partition: entry.partition, known: true as const, offset: offsetText(entry.offset) ?? "0" }
        : { partition: entry.partition, known: false as const, cause: entry.cause },
    ),
    readAt: timeText(readAt),
    next,
  });
}

/** Reads a span of time of a query or a body. @throws StreamsError REQUEST_MALFORMED */
export function readSpan(
  given: { readonly from?: string; readonly to?: string },
  place: "query" | "body",
): { readonly fromMs: number | undefined; readonly toMs: number | undefined } {
  return { fromMs: readTime(given.from, place, "/from"), toMs: readTime(given.to, place, "/to") };
}

/** @throws StreamsError REQUEST_MALFORMED for an id that no record has */
export function assertEntity(id: string, place: "path" | "body" | "query", pointer: string): void {
  if (Buffer.byteLength(id) > DOCUMENT_ID_BYTES_MAX) {
    throw malformed(place, pointer, `it has more than ${DOCUMENT_ID_BYTES_MAX} bytes`);
  }
}
