import type { Clock } from "../../ports/clock.ts";
import type { OwnerGroup } from "./owner-group.ts";
import { OwnerDown } from "./pending.ts";

/**
 * Asks every owner that is sent writes, again and again, whether it is still there: one whose files were removed, or that
 * hangs, would otherwise look up for as long as nothing is written, and a second loss would be met with one copy left.
 */
export class Pulse {
  readonly #group: OwnerGroup;
  readonly #clock: Clock;
  readonly #everyMs: number;
  #cancel: (() => void) | undefined;

  constructor(group: OwnerGroup, clock: Clock, everyMs: number) {
    this.#group = group;
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  start(): void {
    this.#cancel = this.#clock.after(this.#everyMs, () => {
      for (const link of this.#group.receiving()) {
        link.store.check().catch((error: unknown) => {
          // What is wrong with it has taken it down already.
          if (!(error instanceof OwnerDown)) throw error;
        });
      }
      this.start();
    });
  }

  close(): void {
    this.#cancel?.();
  }
}
