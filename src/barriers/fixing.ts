import { acknowledgedEnd } from "../core/lag.ts";
import type { Offset } from "../core/offset.ts";
import { StreamsError } from "../errors.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { BarrierAt } from "../ports/barriers.ts";
import type { BoundsAnswer } from "../ports/record-source.ts";

/**
 * The offsets that a barrier stands for, by partition. `now`: the end of everything that producers were told is in the log,
 * what an open transaction holds back included. A time: the first record at or after it; where that may be held back, the
 * end as well. Partitions that appear later do not matter to it.
 * @throws StreamsError BARRIER_IN_FUTURE, PARTITION_UNKNOWN, BROKER_UNAVAILABLE; SourceFault
 */
export async function fixOffsets(
  service: SourceService,
  at: BarrierAt,
  nowMs: number,
): Promise<ReadonlyMap<number, Offset>> {
  if (at.at === "timestamp" && at.timestampMs > nowMs) {
    throw new StreamsError("BARRIER_IN_FUTURE", "records until then are still to be produced");
  }
  const { source } = service.parts;
  const found = at.at === "timestamp" ? await source.offsetsAt(at.timestampMs) : undefined;
  const bounds = await source.bounds();
  if (at.at === "offsets") {
    const unknown = [...at.offsets.keys()].filter((partition) => !bounds.has(partition));
    const { topic } = service.parts.inForce.definition;
    if (unknown.length === 0) return at.offsets;
    throw new StreamsError("PARTITION_UNKNOWN", `topic ${topic} has no partition ${unknown.join(", ")}`);
  }
  const offsets = new Map<number, Offset>();
  for (const [partition, answer] of bounds) offsets.set(partition, offsetOf(partition, answer, found));
  return offsets;
}

/** Below its log start nothing of a partition is left to be applied, so the start itself stands for less. */
function offsetOf(partition: number, answer: BoundsAnswer, found: ReadonlyMap<number, Offset> | undefined): Offset {
  if (!answer.known)
    throw new StreamsError("BROKER_UNAVAILABLE", `the end of partition ${partition} is unknown: ${answer.cause}`);
  const end = acknowledgedEnd(answer);
  if (found === undefined) return end;
  const offset = found.get(partition);
  if (offset === undefined) throw new StreamsError("BROKER_UNAVAILABLE", `partition ${partition} was not searched`);
  return offset < answer.end ? offset : end;
}
