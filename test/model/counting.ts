import { HASH_SEED, hashByte } from "../../src/core/counting/byte-table.ts";
import { atOnce } from "../../src/core/steps.ts";
import { TallyFold, type SlotWrite } from "../../src/core/counting/fold-tally.ts";
import type { SlotCache } from "../../src/core/counting/slot-cache.ts";
import { Tally } from "../../src/core/counting/tally.ts";
import type { CountingRow } from "../../src/core/ledger/counting-ledger.ts";
import type { ModelCell } from "./plane.ts";
import { amountOf, keyText, suffixOf, type World } from "./world.ts";

const FAMILIES = [{ name: "model", values: 1, wide: false, visitors: false }];

/** A process: it can be frozen, or end for good, at every yield. */
export type Process<T = void> = Generator<undefined, T>;

/** Counts the events from `from` to `to` that a row covers; restores what it has to. Returns the cells to write. */
export function* countInto(
  world: World,
  cache: SlotCache,
  row: CountingRow,
  from: number,
  to: number,
  seq: number,
): Process<readonly ModelCell[]> {
  const tally = new Tally(FAMILIES);
  tallyEvents(world, tally, row.revision, from, to);
  const fold = new TallyFold(tally, row.number, suffixOf(row.number), cache);
  const unknown: Uint8Array[] = [];
  atOnce(fold.find(unknown));
  const keys = unknown.map(keyText);
  if (keys.length > 0) fold.restored(yield* restore(world, keys), 0);
  const after = fold.behind();
  if (after !== undefined) {
    world.seen.again += 1;
    tally.recount(after);
    tallyEvents(world, tally, row.revision, from, to);
  }
  const writes: SlotWrite[] = [];
  const { skipped } = atOnce(fold.fold(seq, writes));
  world.seen.skips += skipped;
  return writes.map(({ key, order, bytes }) => ({ key: keyText(key), order, bytes }));
}

function tallyEvents(world: World, tally: Tally, revision: number, from: number, to: number): void {
  for (let offset = from; offset < to; offset += 1) {
    const event = world.log[offset];
    const amount = event && amountOf(event, revision);
    if (event === undefined || amount === undefined) continue;
    tally.begin(offset);
    tally.open({ bytes: Uint8Array.of(event.key), hash: hashByte(HASH_SEED, event.key) });
    tally.select(0);
    tally.add(0, amount);
  }
}

/** Reads at R; answers that differ are written back at W. */
function* restore(world: World, keys: readonly string[]): Process<readonly (ModelCell | undefined)[]> {
  let pair = world.pair();
  while (pair === undefined) {
    yield;
    pair = world.pair();
  }
  const answers = keys.map((key) => world.plane.read(pair, key));
  yield;
  const differing = answers.flatMap(({ cell, differ }) => (cell !== undefined && differ ? [cell] : []));
  if (world.rules.writeBack && differing.length > 0) yield* settle(world, differing);
  return answers.map(({ cell }) => cell);
}

/** Writes and waits until W hold it. */
export function* settle(world: World, cells: readonly ModelCell[]): Process {
  const write = world.plane.send(cells);
  while (!world.plane.isAtW(write)) {
    yield;
    if (world.chance(15)) world.plane.resend(write);
  }
}
