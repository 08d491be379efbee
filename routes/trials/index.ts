import { Type } from "@sinclair/typebox";
import { TRIAL_FILES_MAX, TRIAL_LAST, TRIAL_LAST_MAX } from "../../src/descriptors/trial/trial-request.ts";
import type { App, RouteContext } from "../app.ts";
import { Files, MessageName, SetBase64, Subject } from "../descriptors/schema.ts";
import { readProposal } from "../descriptors/view.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { registerJobKind, submitJob } from "../jobs/operations.ts";
import { jobSchemas } from "../jobs/schema.ts";
import { Closed } from "../schema/closed.ts";
import { SourceParams } from "../schema/params.ts";
import { Reason } from "../schema/operator-values.ts";
import { Mapping } from "../sources/definition-schema.ts";

const Candidate = Type.Union(
  [
    Closed({ subject: Subject, version: Type.Integer({ minimum: 1, maximum: 9_999_999 }) }),
    Closed({ files: Files }),
    Closed({ set: SetBase64 }),
  ],
  {
    description: `A registered version, or what is not registered: text or a descriptor set, of at most ${TRIAL_FILES_MAX} characters as text, which is kept with the job.`,
  },
);

const schemas = jobSchemas(
  {
    name: "Trial",
    noun: "trial",
    about: `Decodes the last records of a source's topic and its present dead letters with a candidate, beside what is in force, by the runner's own code, and applies nothing: no record, offset or letter of the source changes, and it overlaps no other job. \`result\` has, of \`inForce\` and of \`candidate\`, how many records fail, by code with examples by offset and never with what they hold, and the fields that they do not know by number; \`fields.gained\` and \`fields.lost\` are paths that only the candidate, or only what is in force, knows in these records, \`fields.differences\` what differs between the descriptors; \`deadLetters\` is the same of at most 10,000 letters, one for each record. The receipts count what was read and, as \`failed\`, what the candidate refuses.`,
    errors: ["DESCRIPTOR_INVALID", "DESCRIPTOR_UNKNOWN", "DESCRIPTORS_BUSY", "MAPPING_INVALID"],
  },
  {
    candidate: Candidate,
    message: Type.Optional(MessageName),
    mapping: Type.Optional(Mapping),
    last: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TRIAL_LAST_MAX,
        description: `Offsets of each partition, the last ones. Left out: ${TRIAL_LAST}.`,
      }),
    ),
    deadLetters: Type.Optional(Type.Boolean({ description: "Whether to decode the dead letters. Left out: yes." })),
    reason: Reason,
    dryRun: Type.Optional(Type.Boolean({ description: "Says which records it would decode; submits nothing." })),
  },
);
const place = { kind: "trial", path: "/v1/trials", schemas } as const;

/** Registers `POST /v1/sources/{source}/trials` and `/v1/trials`. */
export function registerTrials(app: App, context: RouteContext): void {
  registerJobKind(app, context, place);
  const { controlPlane } = context;
  app.post(
    "/v1/sources/:source/trials",
    { schema: { ...schemas.submit, params: SourceParams }, config: { access: "operator" } },
    async (request, reply) => {
      refuseUnlessServing(controlPlane.health);
      const { reason, dryRun, ...wanted } = request.body;
      if (!("version" in wanted.candidate)) readProposal(wanted.candidate, {});
      const said = { source: request.params.source, reason, ...(dryRun === undefined ? {} : { dryRun }) };
      return submitJob(controlPlane.jobs, place, said, wanted, request, reply);
    },
  );
}
