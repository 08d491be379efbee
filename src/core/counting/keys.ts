import { invariant } from "../invariant.ts";
import { joinKey } from "../keys.ts";
import { HASH_SEED, hashByte } from "./byte-table.ts";
import type { KeyPrefix } from "./inputs.ts";

/**
 * Keys of counters and slots. A counter's key is the namespace, a letter for the kind, and parts: texts behind their length,
 * moments so that they sort. None is the beginning of another, so what shares its first parts is one range of keys:
 *
 *     traffic      namespace, "t", article, metric, slot start
 *     ad_actions   namespace, "a", campaign, rollup, member (text, or the hour's start; nothing for the campaign itself)
 *     slot         counter key, source, partition, log, row
 *
 * The longest, a pair in a namespace and from a source of 249 bytes each, has under 1,600 bytes.
 */

const encoder = new TextEncoder();

/** Letter of `traffic`. */
export const TRAFFIC_KEYS = 0x74;
/** Letter of `ad_actions`. */
export const ACTION_KEYS = 0x61;

/** Rollups of ad actions, in the order of their codes; the codes are stored. */
export const ROLLUPS = ["campaign", "article", "placement", "site", "publisher", "hour"] as const;
/** One of {@link ROLLUPS}. */
export type Rollup = (typeof ROLLUPS)[number];

/** Moments are kept 2^52 above their value, so that those before 1970 sort, too. */
const MOMENT_ZERO = 2 ** 52;
const MOMENT_BYTES = 8;
const SUFFIX_NUMBERS = 3;

/** A range of keys, from the first inclusive to the last exclusive. */
export interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** What all keys of a kind in one namespace begin with. */
export function keyPrefix(namespace: string, kind: number): KeyPrefix {
  const bytes = Uint8Array.of(...joinKey([encoder.encode(namespace)]), kind);
  return { bytes, hash: bytes.reduce(hashByte, HASH_SEED) };
}

/** Writes a moment at `at`: 8 bytes that sort as it does. @throws InvariantViolation outside ±2^52 ms */
export function putMoment(target: Uint8Array, at: number, ms: number): void {
  invariant(Number.isSafeInteger(ms) && Math.abs(ms) < MOMENT_ZERO, "KEY_MOMENT", `moment ${ms}`);
  putUint32(target, at, Math.floor((ms + MOMENT_ZERO) / 2 ** 32));
  putUint32(target, at + 4, (ms + MOMENT_ZERO) % 2 ** 32);
}

/** Keys of all counters of a kind in a namespace. */
export function kindRange(namespace: string, kind: number): KeyRange {
  return rangeOf(keyPrefix(namespace, kind).bytes);
}

/** Key of a traffic counter. `slotStartMs` is a multiple of the slot width. */
export function trafficKey(namespace: string, article: string, metric: string, slotStartMs: number): Uint8Array {
  return concat([trafficPrefix(namespace, article, metric), moment(slotStartMs)]);
}

/** Keys of the traffic slots of an article and metric that start in `[fromMs, toMs)`; without a metric, all of the article. */
export function trafficRange(
  namespace: string,
  article: string,
  metric: string,
  fromMs: number,
  toMs: number,
): KeyRange {
  const prefix = trafficPrefix(namespace, article, metric);
  return { from: concat([prefix, moment(fromMs)]), to: concat([prefix, moment(toMs)]) };
}

/** Keys of all traffic of an article, whatever the metric. */
export function articleRange(namespace: string, article: string): KeyRange {
  return rangeOf(trafficPrefix(namespace, article, undefined));
}

/** Key of an ad counter: `member` is the id, or an hour's start in milliseconds; undefined for the campaign itself. */
export function actionKey(
  namespace: string,
  campaign: string,
  rollup: Rollup,
  member: string | number | undefined,
): Uint8Array {
  const prefix = actionPrefix(namespace, campaign, rollup);
  if (member === undefined) return prefix;
  return concat([prefix, typeof member === "number" ? moment(member) : joinKey([encoder.encode(member)])]);
}

/** Keys of all members of a rollup of a campaign. */
export function rollupRange(namespace: string, campaign: string, rollup: Rollup): KeyRange {
  return rangeOf(actionPrefix(namespace, campaign, rollup));
}

/** Keys of the hours of a campaign that start in `[fromMs, toMs)`. */
export function hourRange(namespace: string, campaign: string, fromMs: number, toMs: number): KeyRange {
  const prefix = actionPrefix(namespace, campaign, "hour");
  return { from: concat([prefix, moment(fromMs)]), to: concat([prefix, moment(toMs)]) };
}

/** Keys of all slots of one counter. */
export function slotRange(counter: Uint8Array): KeyRange {
  return rangeOf(counter);
}

/** Whose share of a counter a slot is. Row numbers begin anew in each log, so the log belongs to the row's name. */
export interface SlotOwner {
  readonly source: string;
  readonly partition: number;
  readonly log: number;
  readonly row: number;
}

/** What follows the counter key in the keys of one row's slots. */
export function slotSuffix({ source, partition, log, row }: SlotOwner): Uint8Array {
  const name = joinKey([encoder.encode(source)]);
  const suffix = new Uint8Array(name.length + 4 * SUFFIX_NUMBERS);
  suffix.set(name);
  for (const [index, value] of [partition, log, row].entries()) {
    invariant(Number.isInteger(value) && value >= 0 && value < 2 ** 32, "KEY_NUMBER", `${value} is not a uint32`);
    putUint32(suffix, name.length + 4 * index, value);
  }
  return suffix;
}

/** Key of a slot. */
export function slotKey(counter: Uint8Array, suffix: Uint8Array): Uint8Array {
  const key = new Uint8Array(counter.length + suffix.length);
  key.set(counter);
  key.set(suffix, counter.length);
  return key;
}

function trafficPrefix(namespace: string, article: string, metric: string | undefined): Uint8Array {
  const parts = metric === undefined ? [article] : [article, metric];
  return concat([keyPrefix(namespace, TRAFFIC_KEYS).bytes, joinKey(parts.map((part) => encoder.encode(part)))]);
}

function actionPrefix(namespace: string, campaign: string, rollup: Rollup): Uint8Array {
  const code = Uint8Array.of(ROLLUPS.indexOf(rollup));
  return concat([keyPrefix(namespace, ACTION_KEYS).bytes, joinKey([encoder.encode(campaign)]), code]);
}

function moment(ms: number): Uint8Array {
  const bytes = new Uint8Array(MOMENT_BYTES);
  putMoment(bytes, 0, ms);
  return bytes;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Everything that begins with `prefix`: up to the next byte string that does not. A key never has 0xff throughout. */
function rangeOf(prefix: Uint8Array): KeyRange {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  invariant(length > 0, "KEY_PREFIX", "a prefix of nothing");
  const to = prefix.slice(0, length);
  to[length - 1] = (to[length - 1] ?? 0) + 1;
  return { from: prefix, to };
}

function putUint32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}
