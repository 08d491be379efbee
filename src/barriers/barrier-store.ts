import {
  BARRIER_LIFE_MS,
  BARRIER_SLOTS,
  BarrierIndexRecord,
  barrierNames,
  BarrierRecord,
} from "../control/barrier-records.ts";
import { readRecord, replaceRecord, updateRecord } from "../control/json-record.ts";
import { InvariantViolation } from "../core/invariant.ts";
import { StreamsError } from "../errors.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

const ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** More than this many lost races in a row is a bug, not contention. */
const ATTEMPTS_MAX = 50;

/** What a 429 asks to wait at most, seconds: barriers get done at any time. */
const LOOK_AGAIN_SECONDS = 60;

/** What a barrier is stored as, before it has its number and its end. */
export type NewBarrier = Omit<BarrierRecord, "number" | "expiresAt">;

/**
 * Barriers as control records, a bounded number per source. A new one takes a slot that was never used or has expired, or
 * else the one of the oldest barrier that is done: nobody waits for that any more. The number is taken first, with its slot,
 * then the slot is written; a crash in between leaves a slot that expires unused.
 */
export class BarrierStore {
  readonly #control: ControlStore;

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /**
   * Stores a barrier. `isDone` is asked of those that nobody has found done yet, the oldest first, where no other slot is free.
   * @throws StreamsError BARRIERS_TOO_MANY; KvFault
   */
  async add(
    source: string,
    barrier: NewBarrier,
    isDone: (barrier: BarrierRecord) => Promise<boolean>,
  ): Promise<BarrierRecord> {
    const record = await this.#take(source, barrier, isDone);
    const name = barrierNames.slot(source, record.number);
    await updateRecord(this.#control, name, BarrierRecord, () => record);
    return record;
  }

  /** Takes a number and its slot: by one write, so that two callers never have the same. */
  async #take(
    source: string,
    barrier: NewBarrier,
    isDone: (barrier: BarrierRecord) => Promise<boolean>,
  ): Promise<BarrierRecord> {
    const name = barrierNames.index(source);
    const expiresAt = barrier.createdAt + BARRIER_LIFE_MS;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const stored = await readRecord(this.#control, name, BarrierIndexRecord);
      const index = stored?.value ?? { next: 0, expires: [] };
      const slot = freeSlot(index, barrier.createdAt) ?? (await this.#doneSlot(source, index, isDone));
      if (slot === undefined) throw tooMany(source, index, barrier.createdAt);
      const number = index.next + ((slot - (index.next % BARRIER_SLOTS) + BARRIER_SLOTS) % BARRIER_SLOTS);
      const taken = {
        next: number + 1,
        expires: put(index.expires, slot, expiresAt, 0),
        numbers: put(index.numbers ?? [], slot, number, 0),
      };
      if (await replaceRecord(this.#control, name, BarrierIndexRecord, stored?.tag, taken)) {
        return { ...barrier, number, expiresAt };
      }
    }
    throw new InvariantViolation("CONTROL_CONTENTION", `${name} changed ${ATTEMPTS_MAX} times under one update`);
  }

  /** The slot of the oldest barrier that is done; those that were found so before are not asked about. */
  async #doneSlot(
    source: string,
    index: BarrierIndexRecord,
    isDone: (barrier: BarrierRecord) => Promise<boolean>,
  ): Promise<number | undefined> {
    const slots = index.expires.map((_expires, slot) => slot);
    const read = await Promise.all(
      slots.map(async (slot) => readRecord(this.#control, barrierNames.slot(source, slot), BarrierRecord)),
    );
    // A slot whose barrier is not written yet still holds the one before: its caller is about to be told its number.
    const standing = read
      .flatMap((stored, slot) => (stored === undefined ? [] : [{ slot, barrier: stored.value }]))
      .filter(({ slot, barrier }) => barrier.number === (index.numbers?.[slot] ?? barrier.number))
      .toSorted((one, other) => one.barrier.number - other.barrier.number);
    const known = standing.find(({ barrier }) => barrier.doneAt !== undefined);
    if (known !== undefined) return known.slot;
    for (const { slot, barrier } of standing) if (await isDone(barrier)) return slot;
    return undefined;
  }

  /** Remembers that a barrier was found done; one that has lost its slot meanwhile is left alone. @throws KvFault */
  async settle(source: string, { number }: BarrierRecord, doneAt: number): Promise<void> {
    const present = await readRecord(this.#control, barrierNames.slot(source, number), BarrierRecord);
    if (present?.value.number !== number || present.value.doneAt !== undefined) return;
    // Whoever was faster has found the same, or has taken the slot.
    const name = barrierNames.slot(source, number);
    await replaceRecord(this.#control, name, BarrierRecord, present.tag, { ...present.value, doneAt });
  }

  /** @throws StreamsError BARRIER_UNKNOWN for one that never was, has expired or has given its place away; KvFault */
  async read(source: string, id: string, nowMs: number): Promise<BarrierRecord> {
    const number = ID.test(id) ? Number(id) : undefined;
    const stored =
      number === undefined
        ? undefined
        : await readRecord(this.#control, barrierNames.slot(source, number), BarrierRecord);
    if (stored === undefined || stored.value.number !== number || stored.value.expiresAt <= nowMs) {
      throw new StreamsError("BARRIER_UNKNOWN", `source ${source} has no barrier ${id}, or not any more`);
    }
    return stored.value;
  }
}

/** A slot that was never used, or whose barrier has expired. */
function freeSlot({ next, expires }: BarrierIndexRecord, nowMs: number): number | undefined {
  for (let step = 0; step < BARRIER_SLOTS; step += 1) {
    const slot = (next + step) % BARRIER_SLOTS;
    if ((expires[slot] ?? 0) <= nowMs) return slot;
  }
  return undefined;
}

/** `list` with one entry changed; entries that it did not have before are `filler`. */
function put(list: readonly number[], at: number, value: number, filler: number): number[] {
  const longer = Array.from({ length: Math.max(list.length, at + 1) }, (_unused, index) => list[index] ?? filler);
  return longer.with(at, value);
}

function tooMany(source: string, { expires }: BarrierIndexRecord, nowMs: number): StreamsError {
  const untilFirst = Math.ceil((Math.min(...expires) - nowMs) / 1_000);
  const text = `source ${source} has ${BARRIER_SLOTS} barriers that are neither done nor expired`;
  return new StreamsError("BARRIERS_TOO_MANY", text, {
    retryAfterSeconds: Math.min(Math.max(untilFirst, 1), LOOK_AGAIN_SECONDS),
  });
}
