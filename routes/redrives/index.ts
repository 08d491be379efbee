import { Type } from "@sinclair/typebox";
import { LETTER_ATTEMPTS_MAX } from "../../src/letters/redrive-work.ts";
import type { App, RouteContext } from "../app.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { readRanges, registerJobKind, submitJob } from "../jobs/operations.ts";
import { jobSchemas, RangesBody, submission } from "../jobs/schema.ts";
import { defined } from "../schema/closed.ts";
import { Count } from "../schema/values.ts";

const schemas = jobSchemas(
  {
    name: "Redrive",
    noun: "redrive",
    about: `Judges the letters that are in the dead-letter topic now, one per record and the one with the highest attempt, under the revision in force now, and writes what can be applied at the version of its first coordinates: a newer record of its key stands (\`superseded\`). Nothing is produced to the source's topic. What fails again is a letter of the next attempt, up to ${LETTER_ATTEMPTS_MAX}; beyond that, and where a letter without its value cannot be completed from its record's own log, it counts as \`failed\` and the letter stays as it is. \`ranges\` are offsets of the records' own topic. Counting kinds are recounted instead.`,
    errors: ["DEAD_LETTERS_TOO_MANY", "RECORD_UNREADABLE"],
  },
  {
    ...submission,
    ranges: RangesBody,
    code: Type.Optional(Type.String({ pattern: "^[A-Z][A-Z0-9_]{0,99}$", description: "Letters with this code." })),
    revision: Type.Optional(Count("Letters that were judged under this revision.")),
    descriptorVersion: Type.Optional(Count("Letters that were decoded with this version of the descriptor.")),
  },
);
const place = { kind: "redrive", path: "/v1/redrives", schemas } as const;

/** Registers `/v1/redrives`. */
export function registerRedrives(app: App, context: RouteContext): void {
  registerJobKind(app, context, place);
  const { controlPlane } = context;
  app.post(place.path, { schema: schemas.submit, config: { access: "operator" } }, async (request, reply) => {
    refuseUnlessServing(controlPlane.health);
    const { source, reason, dryRun, ranges, ...rest } = request.body;
    const wanted = defined({ ...rest, ranges: readRanges(ranges) });
    return submitJob(controlPlane.jobs, place, defined({ source, reason, dryRun }), wanted, request, reply);
  });
}
