import type { SourceState } from "../../../src/ports/record-source.ts";
import { settleWithin } from "../client/deadline.ts";
import type { ResolvedSource } from "../options.ts";
import { classifyError } from "../classify-error.ts";
import { Backoff } from "./backoff.ts";
import { ConsumerLife, type LifeEnd, type LifeListener } from "./consumer-life.ts";
import { Leftovers, type LeaveGroup } from "./leftovers.ts";
import { WakeUp } from "./wake-up.ts";

/** How long a consumer that has ended may take to let go of its group and its sockets. */
const CLOSE_MS = 2_000;

/** What the supervisor needs of its source. */
export interface SupervisorHost extends LifeListener {
  /** The consumer is gone: whatever runs under its assignment is void. */
  ended(): void;
  state(state: SourceState): void;
  readonly leave: LeaveGroup;
}

/** Keeps one consumer alive: however it ends, another one is built, after a growing wait, without limit. */
export class Supervisor {
  readonly #source: ResolvedSource;
  readonly #host: SupervisorHost;
  readonly #backoff: Backoff;
  readonly #wakeUp: WakeUp;
  readonly #leftovers: Leftovers;
  #life: ConsumerLife | undefined;
  #loop: Promise<void> | undefined;
  #stopWithin: number | undefined;
  /** When the present consumer first joined, by the monotonic clock. */
  #joinedAt: number | undefined;
  #rebuilds = 0;

  constructor(source: ResolvedSource, host: SupervisorHost) {
    this.#source = source;
    this.#host = host;
    this.#backoff = new Backoff(source.timings.backoffMinMs, source.timings.backoffMaxMs);
    this.#wakeUp = new WakeUp(source.clock);
    this.#leftovers = new Leftovers(host.leave);
    if (source.leaveFor !== undefined) this.#leftovers.add(source.leaveFor);
  }

  /** The consumer of the moment. */
  get life(): ConsumerLife | undefined {
    return this.#life;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends the present consumer so that another one is built. */
  rebuild(end: LifeEnd): void {
    this.#life?.end(end);
  }

  /** The group was joined. */
  joined(): void {
    this.#joinedAt ??= this.#source.clock.monotonic();
    this.#publish("joined");
  }

  /** Ends for good. Resolves when everything is closed, at the latest after `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#stopWithin === undefined) {
      this.#stopWithin = deadlineMs;
      this.#publish("stopping");
      this.#wakeUp.wake();
      this.#life?.end({ cause: "unknown", text: "stopped" });
    }
    await settleWithin(this.#source.clock, deadlineMs, this.#loop ?? Promise.resolve());
    this.#publish("stopped");
  }

  async #run(): Promise<void> {
    while (this.#stopWithin === undefined) {
      this.#publish("joining");
      const end = await this.#live();
      if (this.#stopWithin !== undefined) return;
      this.#rebuilds += 1;
      this.#report(end);
      this.#publish("backing-off", end);
      if (this.#hasLasted()) this.#backoff.reset();
      await this.#wakeUp.wait(this.#backoff.next());
    }
  }

  /** One consumer from its start to the closing of its last socket. Never rejects. */
  async #live(): Promise<LifeEnd> {
    this.#joinedAt = undefined;
    try {
      await this.#leftovers.clear();
      if (this.#stopWithin !== undefined) return { cause: "unknown", text: "stopped" };
      const life = new ConsumerLife(this.#source, this.#host);
      this.#life = life;
      life.start();
      const end = await life.ended;
      this.#host.ended();
      await life.close(this.#stopWithin ?? CLOSE_MS);
      if (life.leftoverMember !== undefined) this.#leftovers.add(life.leftoverMember);
      return end;
    } catch (error) {
      const { code, text } = classifyError(error, this.#source.topic);
      return { cause: code, text };
    } finally {
      this.#life = undefined;
    }
  }

  /** A consumer that joins and dies at once must not be rebuilt in a tight loop. */
  #hasLasted(): boolean {
    const { clock, timings } = this.#source;
    return this.#joinedAt !== undefined && clock.monotonic() - this.#joinedAt > timings.sessionTimeoutMs;
  }

  #report(end: LifeEnd): void {
    const { topic, group, logger } = this.#source;
    // Whoever listens says it in the log, with what else the outage does, and at its own pace.
    logger.debug({ topic, group, ...end, rebuilds: this.#rebuilds }, "the consumer ended; another is built");
  }

  #publish(state: SourceState["state"], end?: LifeEnd): void {
    this.#host.state({ state, rebuilds: this.#rebuilds, ...end });
  }
}
