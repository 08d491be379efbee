import type { Offset } from "../core/offset.ts";
import { copyKey } from "../core/keys.ts";
import { commitDue, copyDue } from "../core/partition/commit.ts";
import { encodeCopy } from "../core/partition/copy.ts";
import type { Clock } from "../ports/clock.ts";
import type { CellAddress, CellWrite, KvPlane } from "../ports/kv-plane.ts";
import type { RecordSource } from "../ports/record-source.ts";
import { brokerCode, consequenceOf } from "./cause.ts";
import type { PartitionRunner } from "./partition-runner.ts";
import type { RecentErrors } from "./recent-errors.ts";

/** What a commit round works on; read anew each time, because assignments change. */
export interface CommitView {
  readonly source: string;
  readonly epoch: number;
  readonly runners: ReadonlyMap<number, PartitionRunner>;
  /** Whether to read back although nothing is due. */
  readonly check: boolean;
}

/**
 * Commits what is acknowledged, one round at a time, for all partitions of a source together:
 *
 * 1. the group's committed offsets are read back, and after them the copies: a commit that vanished, or is ahead of its
 *    copy, stops its partition. First of all, because the copy of a re-created log would vouch for it after a crash;
 * 2. the copies of everything newly acknowledged are written at W;
 * 3. what the copies hold is committed, in one attempt, fenced by the assignment epoch.
 *
 * A round that fails changes nothing; the next one tries again. A crash between 2 and 3 leaves the copy ahead of the
 * commit, which is harmless: what lies between is read again and is already applied.
 */
export class Committer {
  readonly #source: RecordSource;
  readonly #plane: KvPlane;
  readonly #errors: RecentErrors;
  readonly #clock: Clock;
  #round: Promise<void> | undefined;
  #held: ReadonlyMap<number, Offset | undefined> = new Map();
  #heldAt = 0;

  constructor(source: RecordSource, plane: KvPlane, errors: RecentErrors, clock: Clock) {
    this.#clock = clock;
    this.#source = source;
    this.#plane = plane;
    this.#errors = errors;
  }

  /** What the group had committed when it was last read back, partitions of other members included. */
  get held(): ReadonlyMap<number, Offset | undefined> {
    return this.#held;
  }

  /** When that reading began; 0 before the first. */
  get heldAt(): number {
    return this.#heldAt;
  }

  /** Runs a round, or joins the one under way. Never rejects: failures are noted, and the next round repeats the work. */
  commit(view: CommitView): Promise<void> {
    this.#round ??= this.#run(view)
      .catch((error: unknown) => this.#note(error))
      .finally(() => {
        this.#round = undefined;
      });
    return this.#round;
  }

  /** Resolves when no round is under way. */
  async idle(): Promise<void> {
    await this.#round;
  }

  async #run(view: CommitView): Promise<void> {
    const runners = [...view.runners.values()];
    const due = runners.some((runner) => copyDue(runner.state) !== undefined || commitDue(runner.state) !== undefined);
    if (!due && !view.check) return;
    await this.#readBack(view, runners);
    await this.#writeCopies(view);
    await this.#send(view, runners);
  }

  async #readBack(view: CommitView, runners: readonly PartitionRunner[]): Promise<void> {
    const decided = runners.filter((runner) => runner.state.watermark !== undefined);
    const readAt = this.#clock.now();
    const held = await this.#source.committed();
    this.#held = held;
    this.#heldAt = readAt;
    if (decided.length === 0) return;
    const copies = await this.#plane.restore(decided.map((runner) => addressOf(view.source, runner)));
    decided.forEach((runner, index) => {
      const stored = copies[index];
      const copy = stored === undefined ? undefined : stored.order - 1;
      runner.dispatch({ event: "read-back", committed: held.get(runner.partition), copy });
    });
  }

  async #writeCopies({ source, runners }: CommitView): Promise<void> {
    const writes: CellWrite[] = [];
    const written: { readonly runner: PartitionRunner; readonly watermark: number }[] = [];
    for (const runner of runners.values()) {
      const due = copyDue(runner.state);
      if (due === undefined || (runner.state.copied ?? -1) >= due.watermark) continue;
      writes.push({ ...addressOf(source, runner), ...encodeCopy(due) });
      written.push({ runner, watermark: due.watermark });
    }
    if (writes.length === 0) return;
    await this.#plane.write(writes);
    for (const { runner, watermark } of written) runner.dispatch({ event: "copied", watermark });
  }

  async #send(view: CommitView, runners: readonly PartitionRunner[]): Promise<void> {
    const watermarks = new Map<number, number>();
    for (const runner of runners) {
      const due = commitDue(runner.state);
      if (due !== undefined) watermarks.set(runner.partition, due);
    }
    if (watermarks.size === 0) return;
    const result = await this.#source.commit(view.epoch, watermarks);
    if (result.outcome === "failed") return this.#errors.note({ code: brokerCode(result.cause), text: result.text });
    if (result.outcome === "fenced") return;
    for (const [partition, watermark] of watermarks) view.runners.get(partition)?.committed(watermark);
  }

  #note(error: unknown): void {
    const consequence = consequenceOf(error);
    if (consequence.consequence === "hold") return this.#errors.note(consequence.cause);
    this.#errors.note({ code: "COMMIT_FAILED", text: consequence.detail });
  }
}

function addressOf(source: string, runner: PartitionRunner): CellAddress {
  return { space: "copy", key: copyKey(source, runner.topicEpoch, runner.partition) };
}
