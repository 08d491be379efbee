import { type Static, Type } from "@sinclair/typebox";
import { JOB_KINDS, JOB_PARTITION_STATES, JOB_STATES } from "../core/job/job.ts";
import { oneOf } from "./schema-parts.ts";

/** Names and shapes of the control records of jobs. */

const Offset = Type.Integer({ minimum: 0 });
const Count = Type.Integer({ minimum: 0 });
const Fault = Type.Object({ code: Type.String(), text: Type.String() });

const Partition = Type.Object({
  partition: Count,
  from: Offset,
  to: Offset,
  next: Offset,
  state: oneOf(JOB_PARTITION_STATES),
  receipt: Type.Object({
    read: Count,
    bytes: Count,
    applied: Count,
    alreadyApplied: Count,
    superseded: Count,
    deadLettered: Count,
    failed: Count,
  }),
  lost: Type.Optional(Type.Object({ from: Offset, to: Offset })),
  error: Type.Optional(Fault),
});

/** `jobs/{id}` */
export const JobRecord = Type.Object({
  id: Type.String(),
  kind: oneOf(JOB_KINDS),
  source: Type.String(),
  revision: Count,
  request: Type.Unknown(),
  spec: Type.Unknown(),
  rates: Type.Object({ recordsPerSecond: Type.Optional(Type.Number()), bytesPerSecond: Type.Optional(Type.Number()) }),
  actor: Type.String(),
  reason: Type.String(),
  audit: Type.String(),
  createdAtMs: Type.Integer(),
  state: oneOf(JOB_STATES),
  holder: Type.Optional(Type.Object({ name: Type.String(), untilMs: Type.Integer() })),
  cancel: Type.Optional(Type.Object({ actor: Type.String(), atMs: Type.Integer() })),
  startedAtMs: Type.Optional(Type.Integer()),
  endedAtMs: Type.Optional(Type.Integer()),
  error: Type.Optional(Fault),
  result: Type.Optional(Type.Unknown()),
  partitions: Type.Array(Partition),
});
export type JobRecord = Static<typeof JobRecord>;

/** `job-index/{source}` */
export const JobIndexRecord = Type.Object({
  jobs: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: oneOf(JOB_KINDS),
      createdAtMs: Type.Integer(),
      ended: Type.Boolean(),
      key: Type.Optional(Type.Object({ name: Type.String(), hash: Type.String() })),
      ranges: Type.Array(Type.Object({ partition: Count, from: Offset, to: Offset })),
    }),
  ),
});
export type JobIndexRecord = Static<typeof JobIndexRecord>;

export const jobNames = {
  job: (id: string) => `jobs/${id}`,
  index: (source: string) => `job-index/${source}`,
  indexes: "job-index/",
} as const;
