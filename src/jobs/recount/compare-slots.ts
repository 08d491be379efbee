import type { KeyRange, SlotOwner } from "../../core/counting/keys.ts";
import { readSlotKey, type SlotName } from "../../core/counting/reading.ts";
import { decodeSlot, type SlotValues } from "../../core/counting/slot.ts";
import type { KvPlane } from "../../ports/kv-plane.ts";
import type { RecountRangeSpec } from "../../control/recount-spec.ts";

/** A counter that two counts of one row disagree about. */
export interface SlotDifference {
  readonly partition: number;
  readonly row: number;
  readonly counter: string;
  /** Decimal values as they stand and as they were counted again; undefined where one has no such slot. */
  readonly stands: readonly string[] | undefined;
  readonly counted: readonly string[] | undefined;
}

/** What comparing rows found. */
export interface SlotComparison {
  readonly compared: number;
  readonly differing: number;
  /** The first of them. */
  readonly examples: readonly SlotDifference[];
}

const EXAMPLES_MAX = 100;
const PAGE_CELLS = 2_000;

/**
 * Compares the slots of rows with those that they were counted again into, counter by counter: whatever one of both has. Reads
 * the namespace once, in the order of its keys, and keeps one counter at a time. @throws KvFault
 */
export async function compareSlots(
  plane: KvPlane,
  range: KeyRange,
  owner: Pick<SlotOwner, "source" | "log">,
  ranges: readonly RecountRangeSpec[],
): Promise<SlotComparison> {
  const tally = new Comparing(owner, ranges);
  let from: Uint8Array | undefined = range.from;
  while (from !== undefined) {
    const page = await plane.scan({ space: "slot", from, to: range.to, limit: PAGE_CELLS });
    for (const { key, order, bytes } of page.cells) tally.see(readSlotKey(key), () => decodeSlot({ order, bytes }));
    from = page.next;
  }
  return tally.end();
}

interface Pair {
  readonly partition: number;
  readonly row: number;
  stands?: SlotValues;
  counted?: SlotValues;
}

class Comparing {
  readonly #owner: Pick<SlotOwner, "source" | "log">;
  /** Which row each row's slots are compared under, and as what. */
  readonly #sides = new Map<string, { readonly row: number; readonly side: "stands" | "counted" }>();
  readonly #examples: SlotDifference[] = [];
  #counter = "";
  #pairs = new Map<string, Pair>();
  #compared = 0;
  #differing = 0;

  constructor(owner: Pick<SlotOwner, "source" | "log">, ranges: readonly RecountRangeSpec[]) {
    this.#owner = owner;
    for (const { partition, replaces, row, exchange } of ranges) {
      if (replaces === null || exchange) continue;
      this.#sides.set(`${partition}/${replaces}`, { row: replaces, side: "stands" });
      this.#sides.set(`${partition}/${row.number}`, { row: replaces, side: "counted" });
    }
  }

  see(name: SlotName, read: () => SlotValues): void {
    const { source, log, partition, row } = name.owner;
    if (source !== this.#owner.source || log !== this.#owner.log) return;
    const found = this.#sides.get(`${partition}/${row}`);
    if (found === undefined) return;
    const counter = counterText(name);
    if (counter !== this.#counter) this.#close();
    this.#counter = counter;
    const key = `${partition}/${found.row}`;
    const pair = this.#pairs.get(key) ?? { partition, row: found.row };
    pair[found.side] = read();
    this.#pairs.set(key, pair);
  }

  end(): SlotComparison {
    this.#close();
    return { compared: this.#compared, differing: this.#differing, examples: this.#examples };
  }

  #close(): void {
    for (const { partition, row, stands, counted } of this.#pairs.values()) {
      this.#compared += 1;
      if (same(stands, counted)) continue;
      this.#differing += 1;
      if (this.#examples.length >= EXAMPLES_MAX) continue;
      const counter = this.#counter;
      this.#examples.push({ partition, row, counter, stands: textsOf(stands), counted: textsOf(counted) });
    }
    this.#pairs = new Map();
  }
}

/** Sketches have one encoding, so equal visitors estimate equally; slots of different shapes differ. */
function same(a: SlotValues | undefined, b: SlotValues | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const counters = a.counters.length === b.counters.length && a.counters.every((value, at) => value === b.counters[at]);
  return counters && a.visitors?.estimate() === b.visitors?.estimate();
}

function textsOf(slot: SlotValues | undefined): readonly string[] | undefined {
  return slot?.counters.map((value) => `${value}`);
}

function counterText(name: SlotName): string {
  if (name.kind === "traffic") return JSON.stringify(["traffic", name.article, name.metric, name.startMs]);
  return JSON.stringify(["actions", name.campaign, name.rollup, name.member ?? null]);
}
