import { OFFSET_LIMIT, type Offset } from "../core/offset.ts";
import { reachOf } from "../core/partition/commit.ts";
import type { PartitionState } from "../core/partition/state.ts";
import { isSourceWide, type Stop } from "../core/partition/stop.ts";
import type { PartitionStore, UnrecordedStop } from "./partition-store.ts";
import type { RunnerContext } from "./runner-context.ts";

/** The runner as its stops see it. */
interface StoppedRunner {
  readonly partition: number;
  readonly state: PartitionState;
  readonly since: number;
}

/** Makes a partition's stops durable. Until one is, it is kept beside the assignment: a rejoin must not forget it (I13). */
export class StopRecording {
  readonly #unrecorded: RunnerContext["unrecorded"];
  readonly #runner: StoppedRunner;
  readonly #store: PartitionStore;

  constructor({ unrecorded }: Pick<RunnerContext, "unrecorded">, runner: StoppedRunner, store: PartitionStore) {
    this.#unrecorded = unrecorded;
    this.#runner = runner;
    this.#store = store;
  }

  /** A stop of an earlier assignment that is not recorded yet, unless somebody went on beyond its reach meanwhile. */
  pending(copy: Offset): UnrecordedStop | undefined {
    const { partition } = this.#runner;
    const pending = this.#unrecorded.get(partition);
    if (pending === undefined || copy <= pending.reach) return pending;
    this.#unrecorded.delete(partition);
    return undefined;
  }

  /** @throws KvFault: to be tried again */
  async record(stop: Stop): Promise<void> {
    const { partition, since, state } = this.#runner;
    const reach = isSourceWide(stop) ? OFFSET_LIMIT : reachOf(state);
    const pending = this.#unrecorded.get(partition) ?? { stop, since, reach };
    this.#unrecorded.set(partition, pending);
    await this.#store.recordStop(pending);
    this.#unrecorded.delete(partition);
  }
}
