import { invariant } from "./invariant.ts";
import { OFFSET_LIMIT, type Offset } from "./offset.ts";

/** `topicEpoch · 2^40 + offset + 1`: orders every write of one target; 0 means absent; below 2^50, so a safe integer. */
export type Version = number;

/** Where a version came from. */
export interface VersionOrigin {
  readonly topicEpoch: number;
  readonly offset: Offset;
}

const EPOCH_UNIT = 2 ** 40;

/** Topic epochs run from 0 to this one (10 bits). */
export const TOPIC_EPOCH_MAX = 1023;

/** Packs an origin. @throws InvariantViolation outside 0 ≤ epoch ≤ 1023, 0 ≤ offset < 2^40 − 1. */
export function versionOf(origin: VersionOrigin): Version {
  const { topicEpoch, offset } = origin;
  invariant(
    Number.isInteger(topicEpoch) && topicEpoch >= 0 && topicEpoch <= TOPIC_EPOCH_MAX,
    "VERSION_EPOCH",
    `topic epoch ${topicEpoch} is outside 0..${TOPIC_EPOCH_MAX}`,
  );
  invariant(
    Number.isInteger(offset) && offset >= 0 && offset < OFFSET_LIMIT,
    "VERSION_OFFSET",
    `offset ${offset} is outside 0..${OFFSET_LIMIT - 1}`,
  );
  return topicEpoch * EPOCH_UNIT + offset + 1;
}

/** Unpacks a version. @throws InvariantViolation for 0 or anything that {@link versionOf} cannot make. */
export function originOf(version: Version): VersionOrigin {
  invariant(Number.isSafeInteger(version) && version > 0, "VERSION_RANGE", `version ${version}`);
  const topicEpoch = Math.floor((version - 1) / EPOCH_UNIT);
  const offset = version - 1 - topicEpoch * EPOCH_UNIT;
  invariant(topicEpoch <= TOPIC_EPOCH_MAX, "VERSION_RANGE", `version ${version}`);
  return { topicEpoch, offset };
}
