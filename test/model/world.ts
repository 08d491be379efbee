import type { CountingLedger, CountingRow } from "../../src/core/ledger/counting-ledger.ts";
import { EMPTY_COUNTING_LEDGER } from "../../src/core/ledger/counting-ledger.ts";
import { slotKey, slotSuffix } from "../../src/core/counting/keys.ts";
import { decodeSlot } from "../../src/core/counting/slot.ts";
import { ModelPlane } from "./plane.ts";

/** What the wiring of the model keeps; each can be broken alone. */
export interface Rules {
  /** Restored answers that differ are written back at W before anything is skipped on them. */
  readonly writeBack: boolean;
  /** A slot is not evicted before its last write is at W. */
  readonly pinning: boolean;
  /** A runner decodes only what it has reserved. */
  readonly reservation: boolean;
  /** Only the runner that is named gives back. */
  readonly naming: boolean;
  /** Nothing is given back below what the named runner found. */
  readonly floor: boolean;
  /** A recount takes only rows whose end the copy has reached. */
  readonly recountWaits: boolean;
  /** A lost owner merges both others. */
  readonly twoPeers: boolean;
  /** An abandoned batch takes the cache with it. */
  readonly dropOnAbandon: boolean;
}

export const ALL_RULES: Rules = {
  writeBack: true,
  pinning: true,
  reservation: true,
  naming: true,
  floor: true,
  recountWaits: true,
  twoPeers: true,
  dropOnAbandon: true,
};

export interface ModelEvent {
  readonly key: number;
  readonly weight: number;
}

/** Keys of events. */
const KEYS = 3;

/** Everything that runners share: the log, the owners, the control record, the copy. */
export class World {
  readonly rules: Rules;
  readonly plane = new ModelPlane();
  /** Undefined: a hole, where compaction or a control record left no event. */
  readonly log: (ModelEvent | undefined)[] = [];
  ledger: CountingLedger = EMPTY_COUNTING_LEDGER;
  copy = 0;
  /** The revision in force. */
  revision = 1;
  nowMs = 0;
  /** One past the highest offset that live reading was delivered. */
  delivered = 0;
  /** What was seen of the schedule, so that a test can tell that it went where it should. */
  readonly seen = { takeovers: 0, skips: 0, again: 0, exchanges: 0, givenBack: 0, turned: 0, abandoned: 0, evicted: 0 };
  #seed: number;

  constructor(seed: number, rules: Rules) {
    this.#seed = seed;
    this.rules = rules;
  }

  /** The next number below `bound`, from the seed alone (mulberry32, public domain). */
  pick(bound: number): number {
    this.#seed = (this.#seed + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  chance(percent: number): boolean {
    return this.pick(100) < percent;
  }

  produce(): void {
    const count = 1 + this.pick(4);
    for (let index = 0; index < count; index += 1) {
      // One key is hot: what goes wrong with a slot goes wrong between two batches that touch it.
      const key = this.chance(60) ? 0 : this.pick(KEYS);
      this.log.push(this.chance(10) ? undefined : { key, weight: 1 + this.pick(9) });
    }
  }

  /** Two of the owners that are up, or none. */
  pair(): readonly number[] | undefined {
    const { up } = this.plane;
    if (up.length < 2) return undefined;
    const left = this.pick(up.length);
    return up.length === 2 ? up : up.filter((_, index) => index !== left);
  }

  /** What a reader at R sums of a key over the listed rows. */
  sum(key: number, pair: readonly number[]): number {
    let sum = 0;
    for (const number of this.ledger.listed) {
      const { cell } = this.plane.read(pair, keyText(slotKey(Uint8Array.of(key), suffixOf(number))));
      if (cell !== undefined) sum += Number(decodeSlot(cell).counters[0] ?? 0n);
    }
    return sum;
  }

  /** What it should be for the events below `end`: each counted once, under the revision of its row. */
  expected(key: number, end: number): number {
    return this.ledger.rows.reduce((sum, row) => sum + this.#expectedOf(row, key, end), 0);
  }

  /** The first key whose total is wrong now, in words. */
  wrong(exact: boolean): string | undefined {
    const pair = this.pair();
    if (pair === undefined) return undefined;
    for (let key = 0; key < KEYS; key += 1) {
      const sum = this.sum(key, pair);
      const least = this.expected(key, exact ? this.log.length : this.copy);
      const most = this.expected(key, exact ? this.log.length : this.delivered);
      if (sum < least || sum > most) return `key ${key}: ${sum}, not from ${least} to ${most}`;
    }
    return undefined;
  }

  #expectedOf({ number, from, until, revision }: CountingRow, key: number, end: number): number {
    let sum = 0;
    // Without reservations nobody knows where the open row ends.
    const endless = !this.rules.reservation && number === this.ledger.rows.at(-1)?.number;
    for (let offset = from; offset < Math.min(endless ? Infinity : until, end); offset += 1) {
      const event = this.log[offset];
      if (event?.key === key) sum += amountOf(event, revision) ?? 0;
    }
    return sum;
  }
}

/** What an event adds under a revision; undefined: it is a fault there, and goes to the dead letters. */
export function amountOf({ weight }: ModelEvent, revision: number): number | undefined {
  return revision % 3 === 0 && weight === 5 ? undefined : weight * (1 + 10 * (revision % 4));
}

/** Key of an owner's map. */
export function keyText(key: Uint8Array): string {
  let text = "";
  for (const byte of key) text += String.fromCharCode(byte);
  return text;
}

const suffixes: Uint8Array[] = [];

/** What follows a counter's key in the slots of a row. */
export function suffixOf(row: number): Uint8Array {
  suffixes[row] ??= slotSuffix({ source: "s", partition: 0, log: 0, row });
  return suffixes[row];
}
