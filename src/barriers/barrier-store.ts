import { BARRIER_SLOTS, BarrierIndexRecord, barrierNames, BarrierRecord } from "../control/barrier-records.ts";
import { readRecord, updateRecord } from "../control/json-record.ts";
import { StreamsError } from "../errors.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

const ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** What a barrier is stored as, before it has its number. */
export type NewBarrier = Omit<BarrierRecord, "number">;

/**
 * Barriers as control records, a bounded number per source: each takes the slot of its number, whose last one must have
 * expired. The number is taken first, then the slot is written; a crash in between leaves a slot that expires unused.
 */
export class BarrierStore {
  readonly #control: ControlStore;

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /** Stores a barrier. @throws StreamsError BARRIERS_TOO_MANY; KvFault */
  async add(source: string, barrier: NewBarrier): Promise<BarrierRecord> {
    const { createdAt, expiresAt } = barrier;
    const index = await updateRecord(this.#control, barrierNames.index(source), BarrierIndexRecord, (present) => {
      const { next, expires } = present ?? { next: 0, expires: [] };
      const slot = next % BARRIER_SLOTS;
      if ((expires[slot] ?? 0) > createdAt) {
        throw new StreamsError(
          "BARRIERS_TOO_MANY",
          `source ${source} has ${BARRIER_SLOTS} barriers that have not expired`,
        );
      }
      const later = slot < expires.length ? expires.with(slot, expiresAt) : [...expires, expiresAt];
      return { next: next + 1, expires: later };
    });
    const record: BarrierRecord = { ...barrier, number: index.value.next - 1 };
    // A slot is one number's alone until it expires, so nobody else writes it.
    const name = barrierNames.slot(source, record.number);
    await updateRecord(this.#control, name, BarrierRecord, () => record);
    return record;
  }

  /** @throws StreamsError BARRIER_UNKNOWN for one that never was, or has expired; KvFault */
  async read(source: string, id: string, nowMs: number): Promise<BarrierRecord> {
    const number = ID.test(id) ? Number(id) : undefined;
    const stored =
      number === undefined
        ? undefined
        : await readRecord(this.#control, barrierNames.slot(source, number), BarrierRecord);
    if (stored === undefined || stored.value.number !== number || stored.value.expiresAt <= nowMs) {
      throw new StreamsError("BARRIER_UNKNOWN", `source ${source} has no barrier ${id}, or it has expired`);
    }
    return stored.value;
  }
}
