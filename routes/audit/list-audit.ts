import type { Static } from "@sinclair/typebox";
import type { AuditEntryView } from "../../src/ports/operators.ts";
import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { readTime } from "../schema/operator-values.ts";
import { timeText } from "../schema/values.ts";
import { type Audit, listAuditSchema } from "./schema.ts";

/** `GET /v1/audit` */
export function listAudit(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/audit",
    { schema: listAuditSchema, config: { access: "viewer" } },
    async ({ query }): Promise<Static<typeof Audit>> => {
      const { since, until, actor, cursor } = query;
      const sinceMs = readTime(since, "query", "/since");
      const untilMs = readTime(until, "query", "/until");
      const { entries, next } = await controlPlane.audit.list(defined({ sinceMs, untilMs, actor, cursor }));
      return defined({ entries: entries.map(entryBody), next });
    },
  );
}

function entryBody(entry: AuditEntryView): Static<typeof Audit>["entries"][number] {
  const { id, at, actor, action, source, partition, reason, detail, outcome, code, gaps } = entry;
  return defined({
    id,
    at: timeText(at),
    actor,
    action,
    source: source === "" ? undefined : source,
    partition,
    reason,
    detail,
    outcome,
    code,
    gaps: [...gaps],
  });
}
