import { type Static, Type } from "@sinclair/typebox";
import { SCORE_SCALE } from "../../src/core/counting/settings.ts";
import { SKETCH_STANDARD_ERROR } from "../../src/core/counting/sketch.ts";
import { documentId, DOCUMENT_ID_BYTES_MAX } from "../../src/core/keys.ts";
import type { CounterPage, SlotShare } from "../../src/ports/counters.ts";
import { malformed } from "../edge/refusals.ts";
import { Closed, defined } from "./closed.ts";
import { readTime } from "./operator-values.ts";
import {
  Count,
  KEY_BASE64_PATTERN,
  knownTime,
  KnownTime,
  NAME_PATTERN,
  OffsetText,
  offsetText,
  PartitionNumber,
  readBase64,
  Text,
  TimeInput,
  timeText,
} from "./values.ts";

/** Standard error of the estimate of distinct visitors in percent, stated where it is shown. */
export const VISITORS_ERROR_PERCENT = Math.round(SKETCH_STANDARD_ERROR * 10_000) / 100;

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
export const FromTime = Type.Optional(TimeInput("Slots that start at or after this time."));
/** End of the spans that are wanted. */
export const ToTime = Type.Optional(TimeInput("Slots that start before this time."));

/** An entity in a path. */
export function EntityId(what: string) {
  return Type.String({
    minLength: 1,
    maxLength: 512,
    description: `Id of the ${what}: 1 to 512 bytes of UTF-8 before percent-encoding.`,
    examples: [`${what}-17`],
  });
}

/** An entity whose id a path cannot carry: `.` and `..`. */
export const EntityKey = Type.String({
  pattern: KEY_BASE64_PATTERN,
  description: "The id's UTF-8 bytes in base64 or base64url, padding optional. In plain base64, write + as %2B.",
  examples: ["Li4"],
});

/** Keys of a bulk read. One that no record has is answered with a problem of its own. */
export function EntityIds(what: string) {
  return Type.Array(Type.String({ maxLength: 4_096, description: `Id of the ${what}: 1 to 512 bytes of UTF-8.` }), {
    minItems: 1,
    maxItems: 1_000,
    description: "At most 1,000.",
  });
}

/** Why one key of a bulk read has no answer; the others do. */
export const KeyProblem = Type.Optional(
  Closed(
    { code: Type.Literal("REQUEST_MALFORMED"), detail: Text("What is wrong with it.") },
    { description: "Instead of an answer." },
  ),
);

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
      start: Type.Optional(KnownTime),
      counters: Type.Array(CountText, {
        description:
          "As stored. Traffic: the count. Ad actions: impressions, clicks; by article also the sums of served scores over both, in billionths, and per score bucket impressions, clicks, the sum over its impressions.",
      }),
      visitors: Type.Optional(Count("Estimate.")),
    }),
    { description: "With `breakdown=slots`: each row's share, up to and with the record at `offset`." },
  ),
);

/** Writes slots as the API spells them. */
export function slotBodies(slots: readonly SlotShare[] | undefined): Static<typeof Slots> | undefined {
  return slots?.map(({ from, until, offset, startMs, counters, visitors, ...rest }) =>
    defined({
      ...rest,
      start: startMs === undefined ? undefined : knownTime(startMs),
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
export function assertEntity(id: string, place: "path" | "query", pointer: string): void {
  const fault = entityFault(id);
  if (fault !== undefined) throw malformed(place, pointer, fault);
}

/** The id that `keyBase64` spells. @throws StreamsError REQUEST_MALFORMED for bytes that no record has as its key */
export function entityOfKey(keyBase64: string): string {
  const id = documentId(readBase64(keyBase64));
  if (id === undefined)
    throw malformed("query", "/keyBase64", "the key is not 1 to 512 bytes of UTF-8: nothing has it");
  return id;
}

/**
 * Answers a bulk read key by key, in the order of the keys: `read` is asked for those that a record can have, and `answerOf`
 * makes of each of its items what is answered.
 */
export async function answerKeys<Item, Answer>(
  keys: readonly string[],
  read: (keys: readonly string[]) => Promise<CounterPage<Item>>,
  answerOf: (key: string, item: Item | undefined, problem: Static<typeof KeyProblem> | undefined) => Answer,
) {
  const page = await read(keys.filter((key) => entityFault(key) === undefined));
  const items = page.items[Symbol.iterator]();
  const answers = keys.map((key) => {
    const detail = entityFault(key);
    if (detail !== undefined) return answerOf(key, undefined, { code: "REQUEST_MALFORMED", detail });
    return answerOf(key, items.next().value, undefined);
  });
  return { ...pageBody(page), items: answers };
}

/** What keeps a text from being the key of any record; undefined: nothing. */
function entityFault(id: string): string | undefined {
  if (id === "") return "it is empty";
  return Buffer.byteLength(id) > DOCUMENT_ID_BYTES_MAX ? `it has more than ${DOCUMENT_ID_BYTES_MAX} bytes` : undefined;
}

/** A sum of scores: decimal, exact, nine digits behind the point. */
export const ScoreText = Type.String({
  pattern: "^(?:0|[1-9][0-9]*)\\.[0-9]{9}$",
  description: "Decimal, exact: scores are summed in billionths.",
  examples: ["0.500000000"],
});

/** Writes a sum of scores that is in billionths. */
export function scoreText(billionths: bigint): string {
  const scale = BigInt(SCORE_SCALE);
  return `${billionths / scale}.${`${billionths % scale}`.padStart(9, "0")}`;
}
