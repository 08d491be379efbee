import { randomUUID } from "node:crypto";
import type { FoldCounts, SlotWrite } from "../core/counting/fold-tally.ts";
import { slotSuffix } from "../core/counting/keys.ts";
import { SlotCache } from "../core/counting/slot-cache.ts";
import { invariant } from "../core/invariant.ts";
import { type CountingLedger, enter, giveBack, mustReserve, reserve } from "../core/ledger/counting-ledger.ts";
import type { Offset } from "../core/offset.ts";
import { inTurns, type Steps } from "../core/steps.ts";
import { countingOf } from "../core/source.ts";
import { logOf } from "../core/topic/binding.ts";
import type { LedgerName } from "../ledgers/counting-ledgers.ts";
import type { Applied, Applier, ApplyTask } from "./applier.ts";
import { allSettled } from "./batch-work.ts";
import { PartitionHalt } from "./cause.ts";
import { type CountedBatch, countBatch, type FoldedBatch } from "./counted-batch.ts";
import { Moment } from "./moment.ts";
import type { ApplierParts } from "./versioned-applier.ts";

/** At the tail each batch would need a reservation of its own: a little waiting lets several share one. */
const GATHER_MS = 100;

/** A batch between delivery and W. */
interface Entry {
  readonly task: ApplyTask;
  /** Decoded and added up; kept over failed restores. */
  counted: CountedBatch | undefined;
  /** Folded into the slots; kept until it is at W. */
  result: FoldedBatch | undefined;
  readonly folded: Moment;
  readonly atW: Moment;
  readonly dropped: Moment;
}

/**
 * Applies records of counting kinds: reserve, decode, restore, skip, fold, write whole (sections 4 and 5 of the contract).
 *
 * Batches are folded in the order of the log, one at a time; their writes overlap. One that is retried is sent as it was
 * folded. When a folded batch is dropped, the cache goes with it, and nothing is restored before all that is still on its way
 * is at W: a quorum might answer with slots from before it.
 */
export class CountingApplier implements Applier {
  readonly #parts: ApplierParts;
  /** Of this life of the runner: no two share it. */
  readonly #name = randomUUID();
  readonly #entries = new Map<number, Entry>();
  readonly #cache: SlotCache;
  readonly #leaveMemory: () => void;
  readonly #suffixes = new Map<number, Uint8Array>();
  #ledger: CountingLedger | undefined;
  #ended = false;
  /** How far anything was ever sent. */
  #sent: Offset = 0;
  /** Ends when the one who has the ledger and the cache is done. */
  #turn: Promise<unknown> = Promise.resolve();
  /** What must be at W before anything is restored. */
  #barrier: Promise<unknown> = Promise.resolve();

  constructor(parts: ApplierParts) {
    this.#parts = parts;
    const { slots } = parts.context;
    this.#cache = new SlotCache(slots.shareBytes);
    this.#leaveMemory = slots.join(() => {
      // Not while a batch is between looking its slots up and folding them.
      void this.#alone(() => Promise.resolve(this.#cache.trim(slots.shareBytes)));
    });
  }

  async cover(watermark: Offset): Promise<void> {
    if (this.#ledger !== undefined) return;
    const { ledgers, inForce, clock } = this.#parts.context;
    const entrance = { name: this.#name, position: watermark, revision: inForce.revision, nowMs: clock.now() };
    const ledger = await ledgers.update(this.#ledgerName, (present) => {
      const entered = enter(present, entrance);
      if ("holder" in entered) return entered;
      const detail = `offsets ${entered.from} to ${entered.until} are in no row`;
      throw new PartitionHalt({ code: "START_UNCOVERED", detail, wanted: entered.from });
    });
    await this.#load(ledger, watermark);
    this.#ledger = ledger;
  }

  async apply(task: ApplyTask): Promise<Applied | undefined> {
    const entry = this.#entry(task);
    const result = entry.result ?? (await this.#prepare(entry));
    if (result === undefined) return undefined;
    const { work } = task;
    await allSettled([work.write(result.writes), work.publish(result.letters), this.#parts.gaps.enter(result.letters)]);
    this.#cache.acked(task.seq);
    entry.atW.come();
    this.#entries.delete(task.seq);
    const { records, letters, fingerprint } = result;
    return { records, written: result.writes.length, folded: 0, letters, fingerprint };
  }

  drop(seqs: readonly number[]): void {
    const dropped = seqs.map((seq) => this.#entries.get(seq)).filter((entry) => entry !== undefined);
    for (const seq of seqs) this.#entries.delete(seq);
    for (const entry of dropped) {
      entry.dropped.come();
      entry.atW.come();
    }
    if (dropped.some(({ result }) => result !== undefined)) this.#forget();
  }

  /** A held batch may be decoded already and not sent: it is decoded anew, for what was given back may get another row. */
  async rest(): Promise<void> {
    await this.#alone(async () => {
      if (this.#ledger === undefined) return;
      for (const entry of this.#entries.values()) if (entry.result === undefined) entry.counted = undefined;
      const { ledgers } = this.#parts.context;
      this.#ledger = await ledgers.update(this.#ledgerName, (present) => giveBack(present, this.#name, this.#sent));
    });
  }

  end(): void {
    this.#ended = true;
    this.#leaveMemory();
    this.#cache.drop();
  }

  get #ledgerName(): LedgerName {
    const { inForce, binding } = this.#parts.context;
    return { source: inForce.definition.name, partition: this.#parts.partition, log: logOf(binding) };
  }

  #entry(task: ApplyTask): Entry {
    const known = this.#entries.get(task.seq);
    if (known !== undefined) return known;
    const [folded, atW, dropped] = [new Moment(), new Moment(), new Moment()];
    const entry: Entry = { task, counted: undefined, result: undefined, folded, atW, dropped };
    this.#entries.set(task.seq, entry);
    return entry;
  }

  /** Reserves, decodes, restores and folds when it is the batch's turn; undefined when it was dropped meanwhile. */
  async #prepare(entry: Entry): Promise<FoldedBatch | undefined> {
    const before = [...this.#entries.values()].filter(({ task }) => task.seq < entry.task.seq);
    // One that failed is tried again, or takes this one along when it is dropped.
    await Promise.race([entry.dropped.promise, Promise.all(before.map(({ folded }) => folded.promise))]);
    return this.#alone(async () => {
      await Promise.race([entry.dropped.promise, this.#barrier]);
      if (!entry.dropped.came) await this.#reserve(entry);
      await this.#parts.context.turns.next();
      if (entry.dropped.came) return undefined;
      entry.counted ??= await this.#count(entry.task);
      return entry.dropped.came ? undefined : this.#fold(entry, entry.counted);
    });
  }

  /** One after the other: who reserves, counts on the slots or gives back. */
  #alone<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(task);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Before anything is decoded: the open row reaches past the batch. */
  async #reserve({ task, dropped }: Entry): Promise<void> {
    const { batch } = task.work;
    if (!mustReserve(this.#known, this.#name, batch.next)) return;
    const { clock, ledgers, inForce, reserveAhead } = this.#parts.context;
    if (batch.next >= batch.end) await Promise.race([dropped.promise, this.#gather()]);
    if (dropped.came) return;
    const waiting = [...this.#entries.values()].map((entry) => entry.task.work.batch);
    const reservation = {
      name: this.#name,
      next: Math.max(batch.next, ...waiting.map(({ next }) => next)),
      end: Math.max(batch.end, ...waiting.map(({ end }) => end)),
      ahead: reserveAhead,
      revision: inForce.revision,
      nowMs: clock.now(),
      segmentEveryMs: countingOf(inForce.definition).segmentEveryMs,
    };
    const ledger = await ledgers.update(this.#ledgerName, (present) => reserve(present, reservation));
    await this.#load(ledger, task.from);
    this.#ledger = ledger;
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.context.clock.after(GATHER_MS, resolve);
    });
  }

  async #count(task: ApplyTask): Promise<CountedBatch> {
    const { context, topicEpoch } = this.#parts;
    const steps = countBatch(
      { ...task, batch: task.work.batch },
      {
        ledger: this.#known,
        topicEpoch,
        verdictOf: (revision) => context.verdicts.counting(revision),
        suffixOf: (row) => this.#suffixOf(row),
        nowMs: context.clock.now(),
      },
    );
    const counted = await inTurns(steps, () => context.turns.next());
    if (counted.poison !== undefined) task.onPoison(counted.poison);
    return counted;
  }

  async #fold(entry: Entry, { count, ...counted }: CountedBatch): Promise<FoldedBatch | undefined> {
    const { plane, slots, turns } = this.#parts.context;
    await turns.next();
    const keys = await this.#whileWanted(entry, count.bind(this.#cache, entry.task.from));
    if (keys === undefined) return undefined;
    const cells = keys.length === 0 ? [] : await plane.restore(keys.map((key) => ({ space: "slot", key })));
    if (entry.dropped.came) return undefined;
    const writes: SlotWrite[] = [];
    let folded: FoldCounts | undefined;
    try {
      folded = await this.#whileWanted(entry, count.fold(cells, entry.task.seq, writes));
    } finally {
      // Part of it is in the cache and will never be sent.
      if (folded === undefined) this.#forget();
    }
    if (folded === undefined) return undefined;
    this.#cache.trim(slots.shareBytes);
    this.#sent = Math.max(this.#sent, counted.sentTo);
    entry.result = { ...counted, writes };
    entry.folded.come();
    return entry.result;
  }

  /** Runs the work a piece at a time; undefined as soon as its batch is dropped: the cache may have gone with it. */
  async #whileWanted<Result>({ dropped }: Entry, steps: Steps<Result>): Promise<Result | undefined> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.#parts.context.turns.next();
      if (dropped.came || this.#ended) return undefined;
    }
  }

  /** The cache holds what will not be sent; and nothing is restored before all is at W that is still on its way. */
  #forget(): void {
    this.#cache.drop();
    const sent = [...this.#entries.values()].filter(({ result }) => result !== undefined);
    this.#barrier = Promise.all(sent.map(({ atW }) => atW.promise));
  }

  get #known(): CountingLedger {
    invariant(this.#ledger !== undefined, "LEDGER_UNCOVERED", "a batch came before its ledger was entered");
    return this.#ledger;
  }

  /** Compiles what the rows from `position` on are counted under. */
  async #load({ rows }: CountingLedger, position: Offset): Promise<void> {
    const needed = rows.filter((row, index) => row.until > position || index === rows.length - 1);
    await this.#parts.context.verdicts.load(needed.map(({ revision }) => revision));
  }

  #suffixOf(row: number): Uint8Array {
    const known = this.#suffixes.get(row);
    if (known !== undefined) return known;
    const suffix = slotSuffix({ ...this.#ledgerName, row });
    this.#suffixes.set(row, suffix);
    return suffix;
  }
}
