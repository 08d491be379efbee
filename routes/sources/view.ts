import type { Static } from "@sinclair/typebox";
import type { HoldView, PartitionView, SourceView, StopView } from "../../src/ports/control-plane.ts";
import type { PauseInForce } from "../../src/core/pause/pause.ts";
import { defined } from "../schema/closed.ts";
import { recordKey } from "../schema/record-key.ts";
import { offsetText, timeText } from "../schema/values.ts";
import type { Pause } from "./operator-schema.ts";
import type { Partition, Source } from "./schema.ts";

type SourceBody = Static<typeof Source>;
type PartitionBody = Static<typeof Partition>;

/** Writes a source as the API spells it. */
export function sourceBody(view: SourceView): SourceBody {
  const {
    name,
    kind,
    topic,
    group,
    namespace,
    desired,
    observed,
    since,
    reason,
    revision,
    drift,
    consumer,
    partitions,
  } = view;
  return defined({
    name,
    kind,
    topic,
    group,
    namespace,
    desired,
    observed,
    since: timeText(since),
    reason,
    pause: view.pause === undefined ? undefined : pauseBody(view.pause),
    revision,
    drift,
    consumer: defined({
      state: consumer.state,
      rebuilds: consumer.rebuilds,
      cause: consumer.cause,
      text: consumer.text,
    }),
    partitions: { ...partitions },
    totals: { ...view.totals },
    deadLetters: { ...view.deadLetters },
    crossings: { ...view.crossings },
    recentErrors: view.recentErrors.map(({ at, firstAt, count, code, text }) => ({
      at: timeText(at),
      firstAt: timeText(firstAt),
      count,
      code,
      text,
    })),
  });
}

/** Writes a partition as the API spells it. */
export function partitionBody(view: PartitionView): PartitionBody {
  const { source, partition, desired, observed, since, reason, inFlight, topicEpoch, stop, hold, counts } = view;
  return defined({
    source,
    partition,
    desired,
    observed,
    since: timeText(since),
    reason,
    committed: offsetText(view.committed),
    committedFrom: view.committedFrom === undefined ? undefined : fromBody(view.committedFrom),
    watermark: offsetText(view.watermark),
    position: offsetText(view.position),
    logStart: offsetText(view.logStart),
    end: offsetText(view.end),
    inFlight: { batches: inFlight.batches, records: inFlight.records, bytes: inFlight.bytes },
    oldestUnacknowledged: oldestBody(view.oldestUnacknowledged),
    topicEpoch,
    pause: view.pause === undefined ? undefined : pauseBody(view.pause),
    stop: stop === undefined ? undefined : stopBody(stop),
    hold: hold === undefined ? undefined : holdBody(hold),
    counts: {
      delivered: counts.delivered,
      written: counts.written,
      deadLettered: counts.deadLettered,
      folded: counts.folded,
    },
  });
}

function fromBody({ basis, at }: NonNullable<PartitionView["committedFrom"]>) {
  return { basis, at: timeText(at) };
}

function oldestBody(oldest: PartitionView["oldestUnacknowledged"]): PartitionBody["oldestUnacknowledged"] {
  const offset = offsetText(oldest?.offset);
  if (oldest === undefined || offset === undefined) return undefined;
  return defined({
    offset,
    key: recordKey(oldest.key),
    ageMs: Math.max(0, Math.round(oldest.ageMs)),
    ackedBy: oldest.ackedBy === undefined ? undefined : [...oldest.ackedBy],
  });
}

function stopBody(stop: StopView): NonNullable<PartitionBody["stop"]> {
  const { code, text, wanted, bounds, lost, since, remedy, page } = stop;
  const logStart = offsetText(bounds?.logStart);
  const end = offsetText(bounds?.end);
  const from = offsetText(lost?.from);
  const to = offsetText(lost?.to);
  return defined({
    code,
    text,
    wanted: offsetText(wanted),
    bounds: logStart === undefined || end === undefined ? undefined : { logStart, end },
    lost: from === undefined || to === undefined ? undefined : { from, to },
    since: timeText(since),
    remedy,
    page,
  });
}

/** Writes a pause as the API spells it. */
export function pauseBody({ by, reason, actor, since, until, audit }: PauseInForce): Static<typeof Pause> {
  return defined({
    by,
    reason,
    actor,
    since: timeText(since),
    until: until === null ? undefined : timeText(until),
    audit,
  });
}

function holdBody({ code, text, since, attempts }: HoldView): NonNullable<PartitionBody["hold"]> {
  return { code, text, since: timeText(since), attempts };
}
