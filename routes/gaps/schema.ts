import { Type } from "@sinclair/typebox";
import { GAP_CAUSES } from "../../src/core/gaps/gap.ts";
import { Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, json, operation } from "../schema/operation.ts";
import { ActorQuery, CursorQuery, Next, TimeQuery } from "../schema/operator-values.ts";
import { Count, NAME_PATTERN, OffsetText, PartitionNumber, Text, Time } from "../schema/values.ts";

const Cause = Words(
  GAP_CAUSES,
  "`dead-letter`: records in the range are in the dead-letter topic. `lost`: the log no longer held it when an operator resumed. `skipped`: the log held it and an operator passed over it. `epoch`: an older log was given up.",
);

const Gap = Closed({
  id: Text("Entry of the gap ledger."),
  source: Text("Name of the source."),
  partition: PartitionNumber,
  topicEpoch: Type.Integer({ minimum: 0, maximum: 1023 }),
  from: OffsetText,
  to: Type.Optional(OffsetText),
  cause: Cause,
  actor: Text("Name of the token that passed it over, `service` for what the system did by itself."),
  reason: Text("Why."),
  at: Time,
  lastAt: Time,
  records: Type.Optional(
    Count(
      "Of `dead-letter`: how many records of the range went to the dead letters. The others of the range were applied: `[10, 2631)` with `records` 2 is two dead letters, at 10 and at 2630.",
    ),
  ),
  codes: Type.Array(Closed({ code: Text("Stable code."), records: Count("Records with it.") })),
  audit: Type.Optional(Text("Audit entry of the call that passed it over.")),
});

export const Gaps = Closed({ gaps: Type.Array(Gap), next: Next });

export const listGapsSchema = operation({
  operationId: "listGaps",
  summary: "What was passed over",
  description:
    "Every range `[from, to)` of a partition that was lost, skipped, dead-lettered or given up, with who, why and when. By source and partition, the newest first in each; at most 100 in one answer. Dead letters of one partition and hour are one entry: the range goes from the first to the last of them, `records` counts them, and what lies between was applied; a range without `to` ends where nobody can know.",
  tag: "gaps",
  params: NO_PARAMS,
  querystring: Closed({
    source: Type.Optional(Type.String({ pattern: NAME_PATTERN, description: "Name of the source." })),
    since: TimeQuery("Entries that grew at or after this time."),
    until: TimeQuery("Entries that began before this time."),
    cause: Type.Optional(Cause),
    actor: ActorQuery,
    cursor: CursorQuery,
  }),
  response: { 200: json("The ranges.", Gaps) },
  errors: ["SOURCE_UNKNOWN", "CURSOR_UNKNOWN", "KV_UNAVAILABLE"],
});
