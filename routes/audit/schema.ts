import { Type } from "@sinclair/typebox";
import { Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, json, operation } from "../schema/operation.ts";
import { ActorQuery, CursorQuery, Next, TimeQuery } from "../schema/operator-values.ts";
import { PartitionNumber, Text, Time } from "../schema/values.ts";

const Entry = Closed({
  id: Text("Audit entry."),
  at: Time,
  actor: Text("Name of the token that called; `anonymous` where no tokens are configured."),
  action: Text("What was asked for, such as `resume`."),
  source: Type.Optional(Text("Name of the source; absent for what concerns none.")),
  partition: Type.Optional(PartitionNumber),
  reason: Text("Why, as the caller said."),
  detail: Text("What exactly was asked for."),
  outcome: Words(
    ["started", "applied", "refused"],
    "`started`: the process died, or the store did not answer, before anybody could tell how it ended.",
  ),
  code: Type.Optional(Text("Code of the refusal.")),
  gaps: Type.Array(Type.String(), { description: "Entries of the gap ledger that the call made." }),
});

export const Audit = Closed({ entries: Type.Array(Entry), next: Next });

export const listAuditSchema = operation({
  operationId: "listAudit",
  summary: "What operators did",
  description:
    "Every call that changes what a source does, with who, when, why and how it ended, refusals included. Newest first, at most 100 in one answer.",
  tag: "audit",
  params: NO_PARAMS,
  querystring: Closed({
    since: TimeQuery("Calls at or after this time."),
    until: TimeQuery("Calls before this time."),
    actor: ActorQuery,
    cursor: CursorQuery,
  }),
  response: { 200: json("The calls.", Audit) },
  errors: ["CURSOR_UNKNOWN", "KV_UNAVAILABLE"],
});
