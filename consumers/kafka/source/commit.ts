import type { Clock } from "../../../src/ports/clock.ts";
import type { Offset } from "../../../src/core/offset.ts";
import type { CommitOutcome } from "../../../src/ports/record-source.ts";
import { classifyError } from "../classify-error.ts";
import { withDeadline } from "../client/deadline.ts";
import type { AssignmentEpoch } from "./assignment.ts";

/** Everything that one commit needs beside its watermarks. */
export interface CommitContext {
  readonly topic: string;
  readonly current: AssignmentEpoch | undefined;
  readonly epoch: number;
  readonly clock: Clock;
  /** After this long an attempt counts as failed. One that is still under way then cannot overtake a later one: both go over the same connection. */
  readonly limitMs: number;
}

/**
 * One attempt to commit `watermarks`, under the generation that the epoch was opened under: a commit that is delayed
 * past a rejoin is refused by the broker instead of landing in the next generation.
 *
 * kafkajs' own `consumer.commitOffsets` is not used: it tries again by itself under whatever generation is current
 * then, and resolves without sending anything while the consumer stops.
 * @throws nothing.
 */
export async function commitWatermarks(
  context: CommitContext,
  watermarks: ReadonlyMap<number, Offset>,
): Promise<CommitOutcome> {
  const { topic, current, epoch } = context;
  if (current === undefined || current.epoch !== epoch) return { outcome: "fenced" };
  const refusal = unfit(current, watermarks);
  if (refusal !== undefined) return refusal;
  if (watermarks.size === 0) return { outcome: "committed" };
  const { generation } = current;
  if (generation === undefined) {
    return { outcome: "failed", cause: "group-unavailable", text: "the group was joined only just now" };
  }
  const partitions = [...watermarks].map(([partition, offset]) => ({ partition, offset: String(offset) }));
  try {
    const sent = generation.commitOffsets({ topics: [{ topic, partitions }] });
    await withDeadline(context.clock, context.limitMs, "commit", sent);
    return { outcome: "committed" };
  } catch (error) {
    const { code, text } = classifyError(error);
    return code === "fenced" ? { outcome: "fenced" } : { outcome: "failed", cause: code, text };
  }
}

/** The broker takes a commit of any number for any partition from any member: what is wrong has to be refused here. */
function unfit(current: AssignmentEpoch, watermarks: ReadonlyMap<number, Offset>): CommitOutcome | undefined {
  for (const [partition, offset] of watermarks) {
    if (!current.has(partition)) return { outcome: "fenced" };
    if (!Number.isSafeInteger(offset) || offset < 0) {
      return { outcome: "failed", cause: "unknown", text: `${offset} for partition ${partition} is no offset` };
    }
  }
  return undefined;
}
