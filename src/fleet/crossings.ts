import { createHash } from "node:crypto";
import { type OrderedBytes, compareOrdered, decodeDocumentCell } from "../core/cell.ts";
import { originOf } from "../core/version.ts";
import type { Clock } from "../ports/clock.ts";
import type { CellWrite, KvPlane } from "../ports/kv-plane.ts";
import { consequenceOf } from "./cause.ts";
import type { RecentErrors } from "./recent-errors.ts";
import type { SourceTally } from "./source-tally.ts";

/** One look a second and source, at so few keys, costs nothing beside the writes. */
const EVERY_MS = 1_000;
const KEYS = 16;

/**
 * Looks for keys that are produced to two partitions. Versions come from offsets, which say nothing across partitions: of
 * two records of one key the newer may lose, silently. A write does not tell what it lost to, and reading every key back
 * would halve the throughput; a producer that partitions wrongly does so to many keys, and a sample finds it soon.
 */
export class Crossings {
  readonly #plane: KvPlane;
  readonly #tally: SourceTally;
  readonly #errors: RecentErrors;
  readonly #clock: Clock;
  #lookedAt = -EVERY_MS;
  #looking = false;

  constructor(plane: KvPlane, tally: SourceTally, errors: RecentErrors, clock: Clock) {
    this.#plane = plane;
    this.#tally = tally;
    this.#errors = errors;
    this.#clock = clock;
  }

  /** Looks at some of the writes that were just acknowledged, when it is time to. Returns at once. */
  sample(partition: number, writes: readonly CellWrite[]): void {
    const now = this.#clock.monotonic();
    if (writes.length === 0 || this.#looking || now - this.#lookedAt < EVERY_MS) return;
    this.#lookedAt = now;
    this.#looking = true;
    void this.#look(partition, spread(writes)).finally(() => {
      this.#looking = false;
    });
  }

  async #look(partition: number, writes: readonly CellWrite[]): Promise<void> {
    try {
      const stored = await this.#plane.restore(writes);
      this.#tally.sampled(writes.length);
      writes.forEach((write, index) => this.#compare(partition, write, stored[index]));
    } catch (error) {
      const consequence = consequenceOf(error);
      const cause =
        consequence.consequence === "hold" ? consequence.cause : { code: "INTERNAL", text: consequence.detail };
      this.#errors.note({ ...cause, partition });
    }
  }

  #compare(partition: number, write: CellWrite, stored: OrderedBytes | undefined): void {
    if (stored === undefined || compareOrdered(stored, write) <= 0) return;
    const winner = decodeDocumentCell(stored.bytes).partition;
    // Under a later topic epoch a key has moved: that is how it should lose.
    const { topicEpoch, offset } = originOf(write.order);
    if (winner === partition || originOf(stored.order).topicEpoch !== topicEpoch) return;
    this.#tally.crossed();
    const key = createHash("sha256").update(write.key).digest("hex").slice(0, 12);
    this.#errors.note({
      code: "KEY_IN_TWO_PARTITIONS",
      text: "records of one key are in two partitions, the newer may have lost: check the producers' partitioner",
      partition,
      last: `key with hash ${key}: offset ${offset} here lost to offset ${originOf(stored.order).offset} of partition ${winner}`,
    });
  }
}

/** At most {@link KEYS} writes, from all over the batch. */
function spread(writes: readonly CellWrite[]): readonly CellWrite[] {
  const step = Math.max(1, Math.ceil(writes.length / KEYS));
  return writes.filter((_write, index) => index % step === 0);
}
