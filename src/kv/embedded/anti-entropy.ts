import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { OwnerGroup } from "./owner-group.ts";
import { OwnerDown } from "./pending.ts";
import { type Pace, walk } from "./walk.ts";

export interface AntiEntropyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pace: Pace;
  /** From the end of a round to the next one. */
  readonly everyMs: number;
  /** Before the first round, and before one that was asked for. */
  readonly soonMs: number;
  /** One walk at a time. */
  readonly alone: (task: () => Promise<void>) => Promise<void>;
  /** Whether an owner waits to merge: it goes first, and the round begins again after it. */
  readonly mustYield: () => boolean;
}

/**
 * Compares the owners that are up, again and again, and gives each what it missed: a write counts at W, and whoever was
 * down then would otherwise lack it for as long as nobody reads it.
 */
export class AntiEntropy {
  readonly #group: OwnerGroup;
  readonly #options: AntiEntropyOptions;
  #cancel: (() => void) | undefined;
  #running = false;
  #again = false;
  #closed = false;

  constructor(group: OwnerGroup, options: AntiEntropyOptions) {
    this.#group = group;
    this.#options = options;
  }

  /** A round before long: at the start, and when an owner came back. */
  soon(): void {
    if (this.#running) this.#again = true;
    else this.#schedule(this.#options.soonMs);
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  /** One round, now. An owner that goes down ends it, and so does one that waits to merge. */
  async round(): Promise<void> {
    const { alone, pace, logger, clock, mustYield } = this.#options;
    this.#running = true;
    try {
      await alone(async () => {
        const links = this.#group.up();
        if (links.length < 2) return;
        let whole = true;
        const { cells, missed } = await walk(links, pace, () => {
          whole = !this.#closed && links.every((link) => link.up) && !mustYield();
          return whole;
        });
        if (!whole) {
          this.#again = true;
          return;
        }
        const at = clock.now();
        for (const link of links) link.compared({ at, missed: missed.get(link.owner) ?? 0 });
        const found = [...missed].filter(([, count]) => count > 0);
        if (found.length > 0) logger.warn({ cells, missed: Object.fromEntries(found) }, "owners had missed writes");
      });
    } catch (error) {
      if (!(error instanceof OwnerDown)) throw error;
    } finally {
      this.#running = false;
    }
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return;
    this.#cancel?.();
    this.#cancel = this.#options.clock.after(delayMs, () => {
      this.round()
        .catch((error: unknown) => this.#options.logger.error({ detail: String(error) }, "comparing owners failed"))
        .finally(() => {
          const { everyMs, soonMs } = this.#options;
          this.#schedule(this.#again ? soonMs : everyMs);
          this.#again = false;
        });
    });
  }
}
