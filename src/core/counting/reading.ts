import { invariant } from "../invariant.ts";
import { ACTION_KEYS, ROLLUPS, type Rollup, type SlotOwner, TRAFFIC_KEYS } from "./keys.ts";
import type { SlotValues } from "./slot.ts";
import { sumSlots } from "./slot.ts";

/** Readers' algebra: from slots as they are stored to what a counter is. */

/** A slot as a reader found it: whose it is, and what it holds. */
export interface FoundSlot extends SlotValues {
  readonly owner: SlotOwner;
}

/** A row that readers sum, of one partition and log. */
export interface ListedRow {
  readonly partition: number;
  readonly log: number;
  readonly row: number;
}

/** What of the found slots counts: those of listed rows. Others are of recounts under way, or were replaced. */
export function listedSlots<S extends FoundSlot>(slots: readonly S[], rows: readonly ListedRow[]): readonly S[] {
  const listed = new Set(rows.map(({ partition, log, row }) => `${partition}/${log}/${row}`));
  return slots.filter(({ owner: { partition, log, row } }) => listed.has(`${partition}/${log}/${row}`));
}

/** How far a partition is in a sum: what is below `offset` is in it. Undefined: not known, with its cause. */
export type PartitionAsOf =
  | { readonly partition: number; readonly known: true; readonly offset: number }
  | { readonly partition: number; readonly known: false; readonly cause: string };

/**
 * What an answer may claim of each partition, from the copies read *before* the slots: a copy that is read after them may be
 * ahead of what was summed. A partition that was not answered for is there, too, and not known.
 */
export function asOf(
  partitions: readonly number[],
  copies: ReadonlyMap<number, number | undefined>,
): readonly PartitionAsOf[] {
  return partitions.map((partition) => {
    const offset = copies.get(partition);
    if (offset !== undefined) return { partition, known: true, offset };
    const cause = copies.has(partition) ? "nothing of the partition was applied yet" : "its copy could not be read";
    return { partition, known: false, cause };
  });
}

/** Traffic of one span: events, and distinct visitors where they were counted. */
export interface TrafficSpan {
  readonly startMs: number;
  readonly count: bigint;
  /** An estimate; undefined where no slot knows its visitors. */
  readonly visitors: number | undefined;
  /** Whether some slots of the span know their visitors and others do not, so that the estimate is too low. */
  readonly visitorsPartial: boolean;
}

/** Spans that traffic can be summed by; `slot` is as it was counted. */
export const TRAFFIC_SPANS = ["slot", "hour", "day"] as const;
/** One of {@link TRAFFIC_SPANS}. */
export type TrafficBy = (typeof TRAFFIC_SPANS)[number];

const SPAN_MS: Readonly<Record<TrafficBy, number>> = { slot: 1, hour: 3_600_000, day: 86_400_000 };

/** Where the span begins that a slot belongs to, in UTC. */
export function spanStart(by: TrafficBy, startMs: number): number {
  return Math.floor(startMs / SPAN_MS[by]) * SPAN_MS[by];
}

/**
 * Sums the listed slots of one article and metric by span, in UTC, ascending. Slots wider than an hour are summed by hour
 * under the hour that they begin in. Visitors of a span are those of the union, not the sum.
 */
export function trafficBy(
  by: TrafficBy,
  slots: readonly (SlotValues & { readonly startMs: number })[],
): readonly TrafficSpan[] {
  return grouped(slots, ({ startMs }) => spanStart(by, startMs))
    .map(([startMs, group]) => trafficOf(startMs, group))
    .toSorted((a, b) => a.startMs - b.startMs);
}

function trafficOf(startMs: number, slots: readonly SlotValues[]): TrafficSpan {
  const { counters, visitors } = sumSlots(slots);
  const knowing = slots.filter((slot) => slot.visitors !== undefined).length;
  return {
    startMs,
    count: counters[0] ?? 0n,
    visitors: visitors?.estimate(),
    visitorsPartial: knowing > 0 && knowing < slots.length,
  };
}

/** What happened to a campaign's ads at one member of a rollup. */
export interface ActionTotals {
  /** An id, empty where it was not known; or the start of an hour in milliseconds. */
  readonly member: string | number;
  readonly impressions: bigint;
  readonly clicks: bigint;
}

/**
 * Sums the listed slots of one rollup by member, in the order of members: text by code units, hours by time. Pairs of
 * different score buckets add up here: impressions and clicks stand first in all.
 */
export function actionsBy(
  slots: readonly (Pick<SlotValues, "counters"> & { readonly member: string | number })[],
): readonly ActionTotals[] {
  return grouped(slots, ({ member }) => member)
    .map(([member, group]) => ({ member, impressions: sumOf(group, 0), clicks: sumOf(group, 1) }))
    .toSorted((a, b) => (a.member < b.member ? -1 : 1));
}

function sumOf(slots: readonly Pick<SlotValues, "counters">[], value: number): bigint {
  return slots.reduce((sum, { counters }) => sum + (counters[value] ?? 0n), 0n);
}

function grouped<S, K>(slots: readonly S[], keyOf: (slot: S) => K): readonly (readonly [K, readonly S[]])[] {
  const groups = new Map<K, S[]>();
  for (const slot of slots) {
    const key = keyOf(slot);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [slot]);
    else group.push(slot);
  }
  return [...groups];
}

/** What the key of a slot says. */
export type SlotName =
  | {
      readonly kind: "traffic";
      readonly article: string;
      readonly metric: string;
      readonly startMs: number;
      readonly owner: SlotOwner;
    }
  | {
      readonly kind: "actions";
      readonly campaign: string;
      readonly rollup: Rollup;
      readonly member: string | number | undefined;
      readonly owner: SlotOwner;
    };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the key of a slot. @throws InvariantViolation when it is none */
export function readSlotKey(key: Uint8Array): SlotName {
  const cursor = new KeyCursor(key);
  cursor.text();
  const kind = cursor.byte();
  invariant(kind === TRAFFIC_KEYS || kind === ACTION_KEYS, "SLOT_KEY", `a key of kind ${kind}`);
  const entity = cursor.text();
  if (kind === TRAFFIC_KEYS) {
    return { kind: "traffic", article: entity, metric: cursor.text(), startMs: cursor.moment(), owner: cursor.owner() };
  }
  const rollup = ROLLUPS[cursor.byte()];
  invariant(rollup !== undefined, "SLOT_KEY", "a rollup that is none");
  const member = rollup === "campaign" ? undefined : rollup === "hour" ? cursor.moment() : cursor.text();
  return { kind: "actions", campaign: entity, rollup, member, owner: cursor.owner() };
}

class KeyCursor {
  readonly #key: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
    this.#view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  }

  byte(): number {
    return this.#key[this.#take(1)] ?? 0;
  }

  text(): string {
    const length = this.#view.getUint16(this.#take(2));
    const start = this.#take(length);
    return decoder.decode(this.#key.subarray(start, start + length));
  }

  moment(): number {
    const high = this.#uint32();
    return high * 2 ** 32 + this.#uint32() - 2 ** 52;
  }

  /** The last part of a key. */
  owner(): SlotOwner {
    const owner = { source: this.text(), partition: this.#uint32(), log: this.#uint32(), row: this.#uint32() };
    invariant(this.#at === this.#key.length, "SLOT_KEY", "bytes are left over");
    return owner;
  }

  #uint32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  #take(length: number): number {
    const start = this.#at;
    invariant(start + length <= this.#key.length, "SLOT_KEY", "a key is cut");
    this.#at += length;
    return start;
  }
}
