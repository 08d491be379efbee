import { Type } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { readRanges, registerJobKind, submitJob } from "../jobs/operations.ts";
import { jobSchemas, RangesBody, submission } from "../jobs/schema.ts";
import { defined } from "../schema/closed.ts";
import { Count } from "../schema/values.ts";

const schemas = jobSchemas(
  {
    name: "Recount",
    noun: "recount",
    about:
      "Counts closed ledger rows of a counting kind again, from the log, under the revision in force, beside live reading; when all is counted, one write per partition puts the new rows in the place of the old. Rows are taken whole where a range touches them. 422 HISTORY_GONE where the log has lost records of a row, with what is possible.",
    errors: ["HISTORY_GONE", "RECOUNT_BEHIND"],
  },
  {
    ...submission,
    ranges: RangesBody,
    decodedBy: Type.Optional(Count("Only rows that this version of the descriptor decoded.")),
    closeOpen: Type.Optional(
      Type.Boolean({ description: "Ends the open row first, so that what was counted until now is taken as well." }),
    ),
    compareOnly: Type.Optional(
      Type.Boolean({ description: "Exchanges nothing: `result` says where the slots differ." }),
    ),
    partly: Type.Optional(
      Type.Boolean({ description: "Takes what the log still holds whole; other rows stay as they were counted." }),
    ),
  },
);
const place = { kind: "recount", path: "/v1/recounts", schemas } as const;

/** Registers `/v1/recounts`. */
export function registerRecounts(app: App, context: RouteContext): void {
  registerJobKind(app, context, place);
  const { controlPlane } = context;
  app.post(place.path, { schema: schemas.submit, config: { access: "operator" } }, async (request, reply) => {
    refuseUnlessServing(controlPlane.health);
    const { source, reason, dryRun, ranges, ...rest } = request.body;
    const wanted = defined({ ...rest, ranges: readRanges(ranges) });
    return submitJob(controlPlane.jobs, place, defined({ source, reason, dryRun }), wanted, request, reply);
  });
}
