import { INSTANCES_NAME, InstancesRecord } from "../control/instance-record.ts";
import { readRecord, updateRecord } from "../control/json-record.ts";
import { Repeats } from "../core/repeats.ts";
import type { Clock } from "../ports/clock.ts";
import type { InstanceQueries } from "../ports/instances.ts";
import { type ControlStore, KvFault } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";
import type { Fleet } from "./fleet.ts";
import { Timers } from "./timers.ts";

/** How often a process says that it runs. */
export const INSTANCE_BEAT_MS = 10_000;

/** After so long without a word a process is forgotten: three beats, so that one that is late is not. */
export const INSTANCE_LIFE_MS = 3 * INSTANCE_BEAT_MS;

/** What the registry is made of. `id` is of this process alone. */
export interface InstanceParts {
  readonly id: string;
  readonly release: string;
  readonly fleet: Pick<Fleet, "phase" | "services">;
  readonly control: ControlStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Row = InstancesRecord["instances"][number];

/** Says who runs: each process keeps a row of its own up to date, in one record that all write by compare-and-set. */
export class InstanceRegistry implements InstanceQueries {
  readonly #parts: InstanceParts;
  readonly #timers: Timers;
  readonly #startedAt: number;
  readonly #repeats = new Repeats();

  constructor(parts: InstanceParts) {
    this.#parts = parts;
    this.#timers = new Timers(parts.clock);
    this.#startedAt = parts.clock.now();
  }

  /** Says so at once, and again and again. */
  start(): void {
    this.#timers.after(0, async () => this.#say());
    this.#timers.every(INSTANCE_BEAT_MS, async () => this.#say());
  }

  /** Takes the row away; where that fails it expires. */
  async stop(): Promise<void> {
    this.#timers.end();
    await this.#write((others) => others);
  }

  async list(): ReturnType<InstanceQueries["list"]> {
    const { control, clock } = this.#parts;
    const stored = await readRecord(control, INSTANCES_NAME, InstancesRecord);
    const asOf = clock.now();
    return { asOf, instances: (stored?.value.instances ?? []).filter(({ expiresAt }) => expiresAt > asOf) };
  }

  #say(): Promise<void> {
    return this.#write((others) => [...others, this.#row()]);
  }

  /** Never rejects: what cannot be written now is written with the next beat. */
  async #write(change: (others: readonly Row[]) => readonly Row[]): Promise<void> {
    const { id, control, clock, logger } = this.#parts;
    try {
      await updateRecord(control, INSTANCES_NAME, InstancesRecord, (present) => {
        const now = clock.now();
        const others = (present?.instances ?? []).filter((row) => row.id !== id && row.expiresAt > now);
        return { instances: [...change(others)].toSorted((one, other) => one.startedAt - other.startedAt) };
      });
    } catch (error) {
      const code = error instanceof KvFault ? error.code : "INTERNAL";
      if (this.#repeats.note(code, clock.monotonic()) === undefined) return;
      logger.warn({ code, error }, "that this process runs could not be written");
    }
  }

  #row(): Row {
    const { id, release, fleet, clock } = this.#parts;
    const now = clock.now();
    const sources = fleet.services().map(({ name, runners }) => ({
      source: name,
      partitions: [...runners.keys()].toSorted((one, other) => one - other),
    }));
    return {
      id,
      release,
      phase: fleet.phase,
      startedAt: this.#startedAt,
      seenAt: now,
      expiresAt: now + INSTANCE_LIFE_MS,
      sources,
    };
  }
}
