/**
 * A place in a partition's log. A plain Number inside the service: a version packs 40 bits of it into a safe integer.
 * At the edges (HTTP, headers, kafkajs) it is a decimal string, read by {@link parseOffset}.
 *
 * Each variable names which one it holds: `position` (next to read), `watermark` (last contiguously acknowledged + 1),
 * `committed` (the group's watermark), `next` (one past a batch, holes and control records included).
 */
export type Offset = number;

/** First offset that no version can carry (2^40 − 1): a partition that reaches it stops. */
export const OFFSET_LIMIT: Offset = 2 ** 40 - 1;

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** Reads a decimal offset. Returns undefined for anything but digits without leading zeros within the safe integers. */
export function parseOffset(text: string): Offset | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Writes an offset as the edges spell it. */
export function formatOffset(offset: Offset): string {
  return String(offset);
}
