import type { Clock } from "../ports/clock.ts";
import type { SourceFaultCode, SourceState } from "../ports/record-source.ts";
import { brokerCode } from "./cause.ts";
import type { RecentErrors } from "./recent-errors.ts";

/** A source's consumer as people read it. */
export interface ConsumerStanding extends SourceState {
  /** Since when it is in the group, or since when it is not, however often it tried meanwhile. */
  readonly since: number;
  /** It tries to join and was not in the group for longer than a session: as bad as backing off. */
  readonly stalled: boolean;
}

/** What a consumer is watched with. */
export interface WatchParts {
  readonly group: string;
  readonly clock: Clock;
  readonly errors: RecentErrors;
  /** After this long without the group, milliseconds, no session of ours can still hold its partitions. */
  readonly sessionTimeoutMs: number;
}

/**
 * Follows the consumer's states. Each attempt to join is a turn through `joining` and `backing-off`; what counts for people is
 * one outage, from the loss of the group to the next join, and why it lasts.
 */
export class ConsumerWatch {
  readonly #parts: WatchParts;
  #state: SourceState = { state: "idle", rebuilds: 0 };
  #since: number;
  /** When the present attempt to join began. */
  #askedAt: number;
  /** How the attempt before the present one ended, or the membership that was lost. */
  #failed: { readonly cause: SourceFaultCode; readonly text: string } | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#since = parts.clock.now();
    this.#askedAt = this.#since;
  }

  get standing(): ConsumerStanding {
    const state = this.#state;
    const since = this.#since;
    if (state.state !== "joining") return { ...state, since, stalled: false };
    const { clock, group, sessionTimeoutMs } = this.#parts;
    const failed = this.#failed;
    const before = failed === undefined ? "" : `; the attempt before ended with: ${failed.text}`;
    const text = `asked to join group ${group} at ${iso(this.#askedAt)} and was not answered yet, not in the group since ${iso(since)}${before}`;
    const stalled = clock.now() - since > sessionTimeoutMs;
    const cause = failed?.cause ?? (stalled ? ("timeout" as const) : undefined);
    return { ...state, ...(cause === undefined ? {} : { cause }), text, since, stalled };
  }

  /** The consumer said that it is in a state. */
  state(state: SourceState): void {
    const { clock, errors } = this.#parts;
    const now = clock.now();
    const lastedMs = now - this.#since;
    if ((state.state === "joined") !== (this.#state.state === "joined")) this.#since = now;
    if (state.state === "joining") this.#askedAt = now;
    this.#state = state;
    if (state.cause !== undefined) {
      const text = state.text ?? state.cause;
      this.#failed = { cause: state.cause, text };
      const fields = { consumer: state.state, rebuilds: state.rebuilds };
      errors.note({ code: brokerCode(state.cause), text, fields });
    } else if (state.state === "joined" && this.#failed !== undefined) {
      this.#failed = undefined;
      const fields = { awayMs: lastedMs, rebuilds: state.rebuilds };
      errors.over({ code: "CONSUMER_JOINED", text: "the consumer is in its group again", fields });
    }
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
