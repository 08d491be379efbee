import { Type } from "@sinclair/typebox";
import { PARTITION_STATES, SOURCE_VIEW_STATES } from "../../src/ports/control-plane.ts";
import { RecordKey } from "../schema/record-key.ts";
import { Closed, KeyedBy, Words } from "../schema/closed.ts";
import { Pause } from "./operator-schema.ts";
import { Count, OffsetText, PartitionNumber, Text, Time } from "../schema/values.ts";

const Desired = Words(["running", "paused"], "What an operator asked for.");

const PartitionCounts = Closed(
  Object.fromEntries(PARTITION_STATES.map((state) => [state, Count(`Partitions that are ${state}.`)])),
  { description: "How many partitions are in each state." },
);

const CountsByCode = KeyedBy<number>(
  "^[A-Z][A-Z0-9_]{0,63}$",
  Count("Letters."),
  "Confirmed dead letters by the code of their fault, since this process began.",
);

export const Source = Closed({
  name: Text("Name."),
  kind: Text("Kind of the feed."),
  topic: Text("Topic that it reads."),
  group: Text("Consumer group that it reads as."),
  namespace: Text("Target that it writes to."),
  desired: Desired,
  observed: Words(
    SOURCE_VIEW_STATES,
    "`degraded`: some partitions are stopped; `backing-off`: the consumer ended and another is built, without end.",
  ),
  since: Time,
  reason: Type.Optional(Text("Why, for people.")),
  pause: Type.Optional(Pause),
  revision: Count("Revision of the definition in force."),
  drift: Type.Boolean({
    description: "Whether the configuration file of this instance says something else now than what is in force.",
  }),
  consumer: Closed({
    state: Text("State of the broker's client."),
    rebuilds: Count("How often it was built anew."),
    cause: Type.Optional(Text("Stable code of what it met last.")),
    text: Type.Optional(Text("The same for people.")),
  }),
  partitions: PartitionCounts,
  totals: Closed(
    {
      delivered: Count(
        "Records judged and kept: written, folded or dead-lettered. One that is read and applied again, after a rebalance or from a start before it, counts again; one that is read only to recognise the log, or thrown away at a stop, does not.",
      ),
      written: Count("Cells written at W."),
      deadLettered: Count("Records whose dead letter was confirmed."),
      folded: Count("Writes that a newer one of the same key in the same batch made needless."),
    },
    { description: "What this process has done for the source since it began, over all assignments and definitions." },
  ),
  deadLetters: CountsByCode,
  crossings: Closed(
    {
      sampled: Count("Writes that were looked at after they were acknowledged, a few a second."),
      lost: Count("Those that had lost to a record of another partition: the key is produced to two partitions."),
    },
    { description: "Whether keys stay in their partition, by sample, since this process began." },
  ),
  recentErrors: Type.Array(
    Closed(
      {
        at: Time,
        firstAt: Time,
        count: Count(
          "How many attempts met it since `firstAt`. Joins, readings and commits count each: more than the consumer's `rebuilds`.",
        ),
        code: Text("Stable code."),
        text: Text("For people."),
      },
      { description: "One kind of failure; `at` is when it happened last." },
    ),
    { description: "What went wrong lately, newest first. Not what is wrong now: see `observed` and `reason`." },
  ),
});

export const Sources = Closed({ sources: Type.Array(Source) });

const Range = Closed({ from: OffsetText, to: OffsetText }, { description: "`[from, to)`." });

const Stop = Closed(
  {
    code: Text("Stable code."),
    text: Text("What happened."),
    wanted: Type.Optional(OffsetText),
    bounds: Type.Optional(Closed({ logStart: OffsetText, end: OffsetText })),
    lost: Type.Optional(Range),
    since: Time,
    remedy: Text("What to do."),
    page: Text("Page of the documentation that says what to do, and what each choice loses."),
  },
  { description: "Why the system halted the partition. It stays so until an operator resumes it." },
);

const Hold = Closed(
  { code: Text("Stable code."), text: Text("What happened."), since: Time, attempts: Count("Attempts so far.") },
  { description: "A store or broker fault that the partition waits out. Nothing is skipped." },
);

export const Partition = Closed({
  source: Text("Name of the source."),
  partition: PartitionNumber,
  desired: Desired,
  observed: Words(PARTITION_STATES, "What the partition does."),
  since: Time,
  reason: Type.Optional(Text("Why, for people.")),
  committed: Type.Optional(OffsetText),
  committedFrom: Type.Optional(
    Closed(
      { basis: Words(["group", "copy"], "The consumer group, or the KV plane's copy."), at: Time },
      { description: "Of a partition that this instance does not run: where `committed` was read, and when." },
    ),
  ),
  watermark: Type.Optional(OffsetText),
  position: Type.Optional(OffsetText),
  logStart: Type.Optional(OffsetText),
  end: Type.Optional(OffsetText),
  inFlight: Closed({ batches: Count("Batches."), records: Count("Records."), bytes: Count("Bytes.") }),
  oldestUnacknowledged: Type.Optional(
    Closed(
      {
        offset: OffsetText,
        key: Type.Optional(RecordKey),
        ageMs: Count("Since it was fetched, milliseconds."),
        ackedBy: Type.Optional(
          Type.Array(Type.String(), {
            description: "Owners that hold what its batch wrote, once they are enough: it waits for its dead letters.",
          }),
        ),
      },
      { description: "The record that holds the partition back, while it is in flight." },
    ),
  ),
  topicEpoch: Type.Integer({ minimum: 0, maximum: 1023 }),
  pause: Type.Optional(Pause),
  stop: Type.Optional(Stop),
  hold: Type.Optional(Hold),
  counts: Closed(
    {
      delivered: Count("Records judged and kept; see the source's `totals`."),
      written: Count("Cells written at W."),
      deadLettered: Count("Records whose dead letter was confirmed."),
      folded: Count("Writes that a newer one of the same key in the same batch made needless."),
    },
    {
      description:
        "Since this process took the partition last: they begin anew with each assignment, each resumption and each new revision. A source's `totals` do not.",
    },
  ),
});

export const Partitions = Closed({ source: Text("Name of the source."), partitions: Type.Array(Partition) });
