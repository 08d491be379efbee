import { Type } from "@sinclair/typebox";
import { BARRIER_SLOTS } from "../../src/control/barrier-records.ts";
import { BARRIER_STATES } from "../../src/ports/barriers.ts";
import { WAIT_PATTERN } from "../edge/waits.ts";
import { Closed, Words } from "../schema/closed.ts";
import { BODY_ERRORS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { SourceParams } from "../schema/params.ts";
import {
  Count,
  OFFSET_PATTERN,
  OffsetText,
  PartitionNumber,
  Text,
  Time,
  TimeInput,
  PARTITION_PATTERN,
} from "../schema/values.ts";

/** More partitions than a topic has. */
const PARTITIONS_MAX = 10_000;

const Offsets = Type.Unsafe<Readonly<Record<string, string>>>({
  type: "object",
  description: "Offsets by partition: everything below them. Partitions that are not named do not matter.",
  propertyNames: { type: "string", pattern: PARTITION_PATTERN },
  additionalProperties: { type: "string", pattern: OFFSET_PATTERN },
  minProperties: 1,
  maxProperties: PARTITIONS_MAX,
});

export const BarrierBody = Closed({
  at: Type.Union(
    [
      Type.Literal("now", {
        description: "Everything that is in the log now, as a reader of committed records sees it.",
      }),
      TimeInput("Everything before the first record with this broker timestamp or a later one."),
      Offsets,
    ],
    { description: "What is to be applied. Fixed to offsets once, when the barrier is set." },
  ),
});

const BarrierPartition = Closed({
  partition: PartitionNumber,
  from: OffsetText,
  to: OffsetText,
  applied: OffsetText,
  done: Type.Boolean(),
  blocked: Type.Optional(
    Closed(
      {
        by: Words(["stop", "pause", "hold"]),
        why: Text("Code of the stop, reason of the pause, code and text of the hold."),
      },
      {
        description:
          "What keeps it. `stop` and `pause`: somebody has to act. `hold`: it goes on by itself when the cause is gone, or becomes a stop; also a log that contradicts what was applied, until it is known whether it is still the same.",
      },
    ),
  ),
});

export const Barrier = Closed({
  id: Text("Name of the barrier within its source."),
  source: Text("Name of the source."),
  state: Words(
    BARRIER_STATES,
    "`done`: everything below it is applied, or counted in `losses`; final, since `doneAt`. It is never found while a stop or a hold leaves open whether the log is the one that was applied. `blocked`: partitions that it waits for are stopped or paused. `given-up`: an operator opened another log before it was done.",
  ),
  at: Words(["now", "timestamp", "offsets"], "What it was fixed from."),
  timestamp: Type.Optional(Time),
  actor: Text("Name of the token that set it."),
  createdAt: Time,
  doneAt: Type.Optional(Time),
  expiresAt: Time,
  asOf: Time,
  partitions: Type.Array(BarrierPartition, {
    description:
      "`[from, to)` is what was not applied when it was set; `applied` is how far it is now, on whichever instance.",
  }),
  losses: Closed(
    {
      deadLetters: Count("Records that are in the dead-letter topic."),
      gaps: Count("Entries of the gap ledger, other than dead letters."),
      gapOffsets: Count("Offsets below the barrier that those passed over."),
      exact: Type.Boolean({
        description: "False: an entry reaches beyond the barrier and is counted whole, or `complete` is false.",
      }),
      complete: Type.Boolean({
        description:
          "False: the gap ledger of a partition is longer than the 64 pages that are looked through, newest first, or older than the last topic epoch before the present one. There may be more.",
      }),
    },
    {
      description:
        "What was passed over instead of applied, of everything below `to`, also before the barrier was set. Without the records that the log had lost before the source began.",
    },
  ),
});

const BarrierParams = Closed({
  source: SourceParams.properties.source,
  barrier: Type.String({ pattern: "^(?:0|[1-9][0-9]{0,14})$", description: "`id` of the barrier.", examples: ["7"] }),
});

export const createBarrierSchema = {
  body: BarrierBody,
  ...operation({
    operationId: "createBarrier",
    summary: "Set a barrier",
    description: `Fixes \`now\`, a time or offsets to offsets, and stores them: whether everything below is applied is then asked of the barrier, on any instance. 409 when partitions that it would wait for are stopped or paused. At most ${BARRIER_SLOTS} per source, each kept for a day; a further one takes the place of the oldest that is done. Needs the role operator.`,
    tag: "barriers",
    params: SourceParams,
    querystring: NO_QUERY,
    response: {
      201: json("The barrier.", Barrier, { Location: { type: "string", description: "Where to ask for it." } }),
    },
    errors: [
      ...BODY_ERRORS,
      "SOURCE_UNKNOWN",
      "PARTITION_UNKNOWN",
      "BARRIER_BLOCKED",
      "BARRIER_IN_FUTURE",
      "BARRIERS_TOO_MANY",
      "BROKER_UNAVAILABLE",
      "KV_UNAVAILABLE",
      "NOT_READY",
    ],
  }),
};

export const getBarrierSchema = operation({
  operationId: "getBarrier",
  summary: "Whether everything below a barrier is applied",
  description:
    "As the KV plane holds it, whoever reads the partitions. With `wait` the answer comes when the barrier is done, blocked or given up, or when the time is up; ask again while it is `waiting`.",
  tag: "barriers",
  params: BarrierParams,
  querystring: Closed({
    wait: Type.Optional(
      Type.String({ pattern: WAIT_PATTERN, description: "Longest wait, whole seconds, at most 20.", examples: ["20"] }),
    ),
  }),
  response: { 200: json("The barrier.", Barrier) },
  errors: ["SOURCE_UNKNOWN", "BARRIER_UNKNOWN", "WAITS_TOO_MANY", "KV_UNAVAILABLE"],
});
