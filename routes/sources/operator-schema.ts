import { Type } from "@sinclair/typebox";
import { ERROR_CODES } from "../schema/problem.ts";
import { Closed, Words } from "../schema/closed.ts";
import { Reason, ResumePoint } from "../schema/operator-values.ts";
import { OffsetText, PartitionNumber, Text, Time, TimeInput } from "../schema/values.ts";

/** A pause that holds. */
export const Pause = Closed(
  {
    by: Words(["source", "partition"], "What it was set on."),
    reason: Text("Why."),
    actor: Text("Name of the token that set it."),
    since: Time,
    until: Type.Optional(Time),
    audit: Text("Audit entry of the call that set it."),
  },
  { description: "An operator's pause. Without `until` it stands until somebody ends it." },
);

export const PauseBody = Closed({
  reason: Reason,
  until: Type.Optional(TimeInput("When it ends by itself.")),
});

export const PauseState = Closed({
  desired: Words(["running", "paused"]),
  pause: Type.Optional(Pause),
  audit: Text("Audit entry of this call."),
});

export const ResumeBody = Closed({
  from: ResumePoint,
  acceptLoss: Type.Optional(
    Closed(
      { from: OffsetText, toMax: OffsetText },
      {
        description:
          "Accepts that `[from, toMax)` is passed over. `toMax` may be above what is lost now: retention moves on.",
      },
    ),
  ),
  allowPoison: Type.Optional(
    Closed(
      { to: OffsetText },
      {
        description: "Records below it that cannot be applied go to the dead letters, whatever policy and breaker say.",
      },
    ),
  ),
  reason: Reason,
});

const gapIds = Type.Array(Type.String(), { description: "Entries of the gap ledger that this made." });

export const Resumed = Closed({
  partition: PartitionNumber,
  from: OffsetText,
  gaps: gapIds,
  audit: Text("Audit entry of this call."),
});

export const Resumptions = Closed({
  source: Text("Name of the source."),
  items: Type.Array(
    Closed({
      partition: PartitionNumber,
      outcome: Words(["resumed", "refused"]),
      from: Type.Optional(OffsetText),
      gaps: Type.Optional(gapIds),
      audit: Type.Optional(Text("Audit entry.")),
      problem: Type.Optional(
        Closed({
          code: Words(ERROR_CODES, "Stable."),
          detail: Text("What happened."),
          remedy: Text("What to do."),
          lost: Type.Optional(Closed({ from: OffsetText, to: OffsetText })),
          bounds: Type.Optional(Closed({ logStart: OffsetText, end: OffsetText })),
        }),
      ),
    }),
    { description: "One for each partition that was stopped." },
  ),
});

export const EpochBody = Closed({
  reason: Reason,
  counting: Type.Optional(
    Words(
      ["continues", "replaces"],
      "For kinds that count: whether the rows of the log before stay in the sums, or leave them.",
    ),
  ),
});

export const Epoch = Closed({
  source: Text("Name of the source."),
  topicEpoch: Type.Integer({ minimum: 0, maximum: 1023 }),
  partitions: Type.Integer({ minimum: 1, description: "Partitions of the log that is read from now on." }),
  audit: Text("Audit entry of this call."),
});
