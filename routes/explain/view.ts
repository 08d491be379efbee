import type { Static } from "@sinclair/typebox";
import type { CellOrigin, DecodedInput, ExplainView, JudgedRecord, OwnerHolds } from "../../src/ports/explain.ts";
import { defined } from "../schema/closed.ts";
import { recordKey } from "../schema/record-key.ts";
import { knownTime, offsetText, timeText } from "../schema/values.ts";
import type { Explained } from "./schema.ts";

/** Longest text of an input, in characters, and longest part of a body, in bytes. */
const INPUT_MAX = 1_000;
const BODY_MAX = 65_536;

type Body = Static<typeof Explained>;
type RecordBody = NonNullable<Body["record"]>;

/** Writes what became of a record. `content`: with what the record holds, or without. */
export function explainedBody(view: ExplainView, content: boolean): Body {
  const { source, partition, offset, topicEpoch, verdict, bounds, applied, record, supersededBy, gaps } = view;
  return defined({
    source,
    partition,
    offset: offsetText(offset) ?? "0",
    topicEpoch,
    verdict,
    reason: view.reason,
    cause: view.cause,
    bounds:
      bounds === undefined
        ? undefined
        : { logStart: offsetText(bounds.logStart) ?? "0", end: offsetText(bounds.end) ?? "0" },
    applied: offsetText(applied) ?? "0",
    record: record === undefined ? undefined : recordBody(record, content),
    supersededBy: supersededBy === undefined ? undefined : originBody(supersededBy),
    gaps: [...gaps],
    owners: view.owners.map(ownerBody),
    slots: view.slots?.map(({ row, owners }) => ({
      row,
      owners: owners.map(({ owner, answer, upTo }) => defined({ owner, answer, upTo: offsetText(upTo) })),
    })),
    asOf: timeText(view.asOf),
  });
}

function recordBody({ timestampMs, key, valueBytes, judged }: JudgedRecord, content: boolean): RecordBody {
  return defined({
    timestamp: knownTime(timestampMs),
    key: content ? recordKey(key) : undefined,
    valueBytes,
    judged: judged === undefined ? undefined : judgedBody(judged, content),
  });
}

function judgedBody(
  { row, revision, descriptorVersion, outcome, inputs, body, unknownFields }: NonNullable<JudgedRecord["judged"]>,
  content: boolean,
): NonNullable<RecordBody["judged"]> {
  return defined({
    row,
    revision,
    descriptorVersion,
    outcome: { ...outcome },
    inputs: content ? inputs.map(inputBody) : undefined,
    body: content && body !== undefined ? bodyPart(body) : undefined,
    unknownFields: unknownFields.map(({ path, count }) => ({ path, count })),
  });
}

function inputBody({ name, type, value }: DecodedInput) {
  const text = textOf(value, type);
  const cut = text !== undefined && text.length > INPUT_MAX;
  return defined({ name, type, value: cut ? text.slice(0, INPUT_MAX) : text, cut: cut ? true : undefined });
}

function textOf(value: DecodedInput["value"], type: DecodedInput["type"]): string | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (type !== "time" || typeof value !== "number") return String(value);
  const time = knownTime(value);
  return time.known ? time.value : String(value);
}

function bodyPart({ format, bytes }: NonNullable<NonNullable<JudgedRecord["judged"]>["body"]>) {
  const part = Buffer.from(bytes.subarray(0, BODY_MAX));
  const cut = bytes.length > BODY_MAX ? true : undefined;
  const shown = format === "json" ? { text: part.toString("utf8") } : { base64: part.toString("base64") };
  return defined({ format, bytes: bytes.length, ...shown, cut });
}

function originBody({ topicEpoch, partition, offset, revision, descriptorVersion, state }: CellOrigin) {
  return { topicEpoch, partition, offset: offsetText(offset) ?? "0", revision, descriptorVersion, state };
}

function ownerBody({ owner, answer, cell }: OwnerHolds) {
  return defined({ owner, answer, cell: cell === undefined ? undefined : originBody(cell) });
}
