import type { Static } from "@sinclair/typebox";
import { formatOffset } from "../../src/core/offset.ts";
import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { timeText } from "../schema/values.ts";
import { type Ledger, getLedgerSchema } from "./decoding-schema.ts";

/** `GET /v1/sources/{source}/ledger` */
export function getLedger(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/ledger",
    { schema: getLedgerSchema, config: { access: "viewer" } },
    async ({ params, query }): Promise<Static<typeof Ledger>> => {
      const partition = query.partition === undefined ? undefined : Number(query.partition);
      const { rows, jobs, next } = await controlPlane.descriptors.ledger(params.source, partition, query.cursor);
      return defined({
        rows: rows.map(({ from, until, ...row }) =>
          defined({ ...row, from: formatOffset(from), until: until === undefined ? undefined : formatOffset(until) }),
        ),
        jobs: jobs.map(({ job, from, until, createdAtMs, ...rest }) =>
          defined({
            ...rest,
            id: job,
            from: formatOffset(from),
            until: formatOffset(until),
            createdAt: timeText(createdAtMs),
          }),
        ),
        next,
      });
    },
  );
}
