import { SlotCache } from "../../src/core/counting/slot-cache.ts";
import {
  closeOpenRow,
  type CountingLedger,
  type CountingRow,
  countingRowAt,
  enter,
  giveBack,
  mustReserve,
  reserve,
} from "../../src/core/ledger/counting-ledger.ts";
import { exchangeRows, planRecount, type RecountRange } from "../../src/core/ledger/recount.ts";
import { countInto, type Process, settle } from "./counting.ts";
import type { ModelWrite } from "./plane.ts";
import type { World } from "./world.ts";

/** Small, so that every schedule evicts. */
const CACHE_BYTES = [1_000, 2_500, 1_000_000];
const SEGMENT_MS = 40;

/** Changes the ledger by compare-and-set: read, freeze, compare. An answer may get lost, and it is tried again. */
function* change(
  world: World,
  decide: (ledger: CountingLedger) => CountingLedger | undefined,
): Process<CountingLedger | undefined> {
  for (;;) {
    const read = world.ledger;
    yield;
    const wanted = decide(read);
    if (wanted === undefined || wanted === read) {
      if (world.ledger === read) return wanted;
      continue;
    }
    if (world.ledger !== read) continue;
    world.ledger = wanted;
    yield;
    if (!world.chance(10)) return wanted;
  }
}

interface Flight {
  readonly seq: number;
  readonly next: number;
  readonly write: ModelWrite;
  acked: boolean;
}

/** One life of a partition runner. */
export class Runner {
  readonly #world: World;
  readonly #name: string;
  readonly #cache: SlotCache;
  readonly #inFlight: Flight[] = [];
  #ledger: CountingLedger;
  #position = 0;
  #watermark = 0;
  #sent = 0;
  #seq = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
    this.#ledger = world.ledger;
    this.#cache = new SlotCache(CACHE_BYTES[world.pick(CACHE_BYTES.length)] ?? 0);
  }

  /** `patient`: it reads to the end and neither abandons nor drains. */
  *run(patient: boolean): Process {
    const world = this.#world;
    const first = world.ledger.rows[0]?.from ?? 0;
    // A commit may lie behind the copy: a group that was reset by hand.
    const position = patient || world.chance(60) ? world.copy : first + world.pick(world.copy - first + 1);
    this.#begin(position);
    yield;
    const entered = yield* change(world, (ledger) => {
      const after = enter(ledger, { name: this.#name, position, revision: world.revision, nowMs: world.nowMs });
      return "rows" in after ? after : undefined;
    });
    if (entered === undefined) return;
    world.seen.takeovers += 1;
    this.#ledger = entered;
    let gone = false;
    while (!gone) {
      yield;
      yield* this.#acknowledge();
      if (!patient) gone = yield* this.#act(world.pick(100));
      else if (this.#watermark === world.log.length) gone = true;
      else yield* this.#act(99);
    }
  }

  /** Does one thing. Returns whether the life is over. */
  *#act(dice: number): Process<boolean> {
    if (dice < 4) this.#abandon();
    else if (dice < 7) {
      yield* this.#giveBack();
      // Drained; or paused, and here it goes on.
      return dice < 6;
    } else if (dice < 26) this.#evict();
    else if (dice >= 32 && this.#inFlight.length < 2 && this.#position < this.#world.log.length) yield* this.#batch();
    else this.#resend();
    return false;
  }

  #begin(position: number): void {
    this.#position = position;
    this.#watermark = position;
    this.#sent = Math.max(this.#sent, position);
  }

  #resend(): void {
    for (const { write, acked } of this.#inFlight) if (!acked) this.#world.plane.resend(write);
  }

  *#acknowledge(): Process {
    const { plane } = this.#world;
    for (const flight of this.#inFlight) {
      if (flight.acked || !plane.isAtW(flight.write)) continue;
      flight.acked = true;
      this.#cache.acked(flight.seq);
    }
    while (this.#inFlight[0]?.acked === true) this.#watermark = this.#inFlight.shift()?.next ?? 0;
    yield;
    this.#world.copy = Math.max(this.#world.copy, this.#watermark);
  }

  /** A write failed for too long, or the position was moved: what is in flight is forgotten and read again. */
  #abandon(): void {
    this.#world.seen.abandoned += 1;
    this.#inFlight.length = 0;
    if (this.#world.rules.dropOnAbandon) this.#cache.drop();
    this.#begin(this.#watermark);
  }

  *#giveBack(): Process {
    const world = this.#world;
    const { naming, floor } = world.rules;
    const left = yield* change(world, (ledger) => {
      const found = ledger.holder ?? { name: this.#name, floor: 0 };
      const holder = { name: naming ? found.name : this.#name, floor: floor ? found.floor : 0 };
      const back = giveBack({ ...ledger, holder }, this.#name, this.#sent);
      if (back.rows === ledger.rows) return ledger;
      world.seen.givenBack += 1;
      return { ...back, holder: ledger.holder };
    });
    this.#ledger = left ?? this.#ledger;
  }

  /** Fetch, reserve, decode, restore, skip, fold, write. */
  *#batch(): Process {
    const world = this.#world;
    const end = world.log.length;
    const next = Math.min(end, this.#position + 1 + world.pick(5));
    world.delivered = Math.max(world.delivered, next);
    yield;
    yield* this.#reserve(next, end);
    this.#seq += 1;
    const cells = [];
    let from = this.#position;
    while (from < next) {
      const row = this.#rowAt(from);
      if (row === undefined) from += 1;
      else {
        const to = Math.min(next, row.until);
        this.#cache.meet(row, this.#position);
        cells.push(...(yield* countInto(world, this.#cache, row, from, to, this.#seq)));
        from = to;
      }
    }
    this.#sent = Math.max(this.#sent, next);
    yield;
    const write = world.plane.send(cells);
    this.#inFlight.push({ seq: this.#seq, next, write, acked: false });
    this.#position = next;
    if (!world.rules.pinning) this.#cache.acked(this.#seq);
    this.#trim();
  }

  /** Other partitions want the memory: all goes that may. */
  #evict(): void {
    this.#trim(0);
    this.#trim(0);
  }

  #trim(maxBytes?: number): void {
    const before = this.#cache.size;
    this.#cache.trim(maxBytes);
    if (this.#cache.size < before) this.#world.seen.evicted += 1;
  }

  *#reserve(next: number, end: number): Process {
    const world = this.#world;
    // Without the rule the ledger only learns what is applied, and the open row goes on for ever in the runner's mind.
    const wanted = world.rules.reservation ? next : this.#watermark;
    if (!mustReserve(this.#ledger, this.#name, wanted)) return;
    const ahead = world.rules.reservation ? world.pick(8) : 0;
    const rows = this.#ledger.rows.length;
    const reserved = yield* change(world, (ledger) =>
      reserve(ledger, {
        name: this.#name,
        next: wanted,
        end,
        ahead,
        revision: world.revision,
        nowMs: world.nowMs,
        segmentEveryMs: SEGMENT_MS,
      }),
    );
    if (reserved === undefined) return;
    this.#ledger = reserved;
    if (reserved.rows.length > rows) world.seen.turned += 1;
  }

  #rowAt(offset: number): CountingRow | undefined {
    const row = countingRowAt(this.#ledger, offset);
    if (row !== undefined || this.#world.rules.reservation) return row;
    const last = this.#ledger.rows.at(-1);
    return last && { ...last, until: Infinity };
  }
}

/** A recount of one row, or of the open one after closing it. */
export function* recount(world: World): Process {
  const { ledger } = world;
  const row = ledger.rows[world.pick(ledger.rows.length)];
  if (row === undefined) return;
  if (row === ledger.rows.at(-1)) {
    yield* change(world, (present) =>
      present.rows.at(-1)?.number === row.number ? closeOpenRow(present, world.nowMs) : present,
    );
  }
  yield;
  const copy = world.rules.recountWaits ? world.copy : Infinity;
  const revision = world.revision;
  let ranges: readonly RecountRange[] = [];
  const planned = yield* change(world, (present) => {
    const plan = planRecount(present, { rows: [row.number], copy, revision, nowMs: world.nowMs });
    if ("refused" in plan) return undefined;
    ranges = plan.ranges;
    return plan.ledger;
  });
  if (planned === undefined) return;
  const cache = new SlotCache(1_000);
  let seq = 0;
  for (const range of ranges) {
    for (let from = range.row.from; from < range.row.until;) {
      const to = Math.min(range.row.until, from + 1 + world.pick(6));
      seq += 1;
      yield* settle(world, yield* countInto(world, cache, range.row, from, to, seq));
      cache.acked(seq);
      cache.trim();
      from = to;
    }
  }
  const exchanged = yield* change(world, (present) => {
    const after = exchangeRows(present, ranges);
    return "refused" in after ? undefined : after;
  });
  if (exchanged !== undefined) world.seen.exchanges += 1;
}
