import { Type } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { malformed } from "../edge/refusals.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { readRanges, registerJobKind, submitJob } from "../jobs/operations.ts";
import { jobSchemas, RangesBody, submission } from "../jobs/schema.ts";
import { Closed, defined } from "../schema/closed.ts";
import { readTime } from "../schema/operator-values.ts";
import { Count, TimeInput } from "../schema/values.ts";

const schemas = jobSchemas(
  {
    name: "Replay",
    noun: "replay",
    about:
      "Reads ranges of the topic again, beside live reading, and applies them by the same version check: nothing goes backwards. By offsets, by broker timestamps, or by the descriptor version that decoded them; all that the log holds without. Of a counting kind, what no ledger row covers is counted whole, and rows that are there are compared.",
    errors: [],
  },
  {
    ...submission,
    ranges: RangesBody,
    timestamps: Type.Optional(
      Closed({
        from: Type.Optional(TimeInput("From the first record with this broker timestamp or a later one.")),
        to: Type.Optional(TimeInput("Up to the first record with this broker timestamp or a later one.")),
      }),
    ),
    decodedBy: Type.Optional(Count("Version of the descriptor.")),
  },
);
const place = { kind: "replay", path: "/v1/replays", schemas } as const;

/** Registers `/v1/replays`. */
export function registerReplays(app: App, context: RouteContext): void {
  registerJobKind(app, context, place);
  const { controlPlane } = context;
  app.post(place.path, { schema: schemas.submit, config: { access: "operator" } }, async (request, reply) => {
    refuseUnlessServing(controlPlane.health);
    const { ranges, timestamps, decodedBy, rates, ...said } = request.body;
    if ([ranges, timestamps, decodedBy].filter((selection) => selection !== undefined).length > 1) {
      throw malformed("body", "", "ranges, timestamps and decodedBy exclude each other");
    }
    const wanted = defined({
      ranges: readRanges(ranges),
      timestamps:
        timestamps &&
        defined({
          fromMs: readTime(timestamps.from, "body", "/timestamps/from"),
          toMs: readTime(timestamps.to, "body", "/timestamps/to"),
        }),
      decodedBy,
      rates,
    });
    return submitJob(controlPlane.jobs, place, said, wanted, request, reply);
  });
}
