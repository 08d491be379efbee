import type { Cluster, Consumer } from "kafkajs";
import type { Offset } from "../../../src/core/offset.ts";
import type { SourceFaultCode } from "../../../src/ports/record-source.ts";
import { classifyError } from "../classify-error.ts";
import { settleWithin, withDeadline } from "../client/deadline.ts";
import { createClient, createConsumer } from "../client/kafka-client.ts";
import { watchJoins } from "../client/join-watch.ts";
import type { SocketGate } from "../client/socket-gate.ts";
import type { FetchedPartition } from "../guards/fetched-records.ts";
import type { ConsumerGroupInternals } from "../guards/internals.ts";
import { registerConsumer, type GuardedConsumer } from "../guards/registry.ts";
import type { ResolvedSource } from "../options.ts";
import type { Steering } from "./assignment.ts";
import { consumerConfig } from "./consumer-config.ts";
import { WakeUp } from "./wake-up.ts";

/** What the owner of a consumer is told. Called synchronously. */
export interface LifeListener {
  joined(memberId: string, partitions: readonly number[]): void;
  /** The group is about to be joined again; the generation still stands. */
  rebalancing(): void;
  attach(group: ConsumerGroupInternals): void;
  fetched(fetched: FetchedPartition, group: ConsumerGroupInternals): void;
  outOfRange(partition: number, position: Offset): void;
  partitionError(partition: number, errorCode: number): void;
  staleBatch(partition: number): void;
}

/** Why a consumer ended. */
export interface LifeEnd {
  readonly cause: SourceFaultCode;
  readonly text: string;
}

/** How much of a stop's deadline is kept for leaving the group, when the join takes its time. */
const LEAVE_SHARE = 0.4;

/**
 * One kafkajs client with one consumer, from its start to its end. kafkajs gives up for good after various errors and
 * says so in various ways; whichever way it ends, {@link ended} resolves, and a new life is the only way to go on.
 */
export class ConsumerLife implements Steering {
  readonly ended: Promise<LifeEnd>;
  readonly #source: ResolvedSource;
  readonly #listener: LifeListener;
  readonly #gate: SocketGate;
  readonly #consumer: Consumer;
  readonly #wakeUp: WakeUp;
  #resolve: (end: LifeEnd) => void = () => undefined;
  /** From the first reason to end on: whatever kafkajs still says is not passed on. */
  #over = false;
  #group: ConsumerGroupInternals | undefined;
  /** As the group's coordinator gave it, also while its join is not over; kafkajs' own word is that of `#group`. */
  #memberId: string | undefined;
  #running: Promise<void> | undefined;
  #lastSign: number;
  #cancelWatch: () => void = () => undefined;

  constructor(source: ResolvedSource, listener: LifeListener) {
    const { timings } = source;
    this.#source = source;
    this.#listener = listener;
    const stallMs = timings.rebalanceTimeoutMs + 15_000;
    const client = createClient(source, { connectMs: timings.connectMs, requestMs: timings.requestMs, stallMs });
    const { consumer, cluster } = createConsumer(client.kafka, consumerConfig(source));
    this.#gate = client.gate;
    this.#consumer = consumer;
    this.#wakeUp = new WakeUp(source.clock);
    this.#lastSign = source.clock.monotonic();
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    swallowDisconnectErrors(cluster);
    watchJoins(cluster, (memberId) => {
      this.#memberId = memberId;
    });
    registerConsumer(cluster, this.#guarded());
  }

  /** Member id that the broker may still hold for this life. Leaving the group for one that has left changes nothing. */
  get leftoverMember(): string | undefined {
    return this.#group?.memberId ?? this.#memberId;
  }

  start(): void {
    this.#listen();
    this.#watch();
    void this.#run();
  }

  /** Ends this life from outside. */
  end(end: LifeEnd): void {
    this.#finish(end);
  }

  /** Leaves the group when it can and shuts every connection; after this the consumer cannot reach a broker any more. */
  async close(deadlineMs: number): Promise<void> {
    const { clock } = this.#source;
    const until = clock.monotonic() + deadlineMs;
    this.#cancelWatch();
    this.#wakeUp.wake();
    // kafkajs' stop returns at once while a join is pending, and the join then brings the consumer to life: wait for it.
    if (this.#running === undefined) this.#gate.close();
    else await settleWithin(clock, deadlineMs * (1 - LEAVE_SHARE), this.#running);
    await settleWithin(clock, Math.max(0, until - clock.monotonic()), this.#consumer.disconnect());
    this.#gate.close();
  }

  seek(partition: number, position: Offset): void {
    const { topic } = this.#source;
    this.#steer(() => this.#consumer.seek({ topic, partition, offset: String(position) }));
  }

  pause(partitions: readonly number[]): void {
    const { topic } = this.#source;
    if (partitions.length > 0) this.#steer(() => this.#consumer.pause([{ topic, partitions: [...partitions] }]));
  }

  resume(partitions: readonly number[]): void {
    const { topic } = this.#source;
    this.#steer(() => this.#consumer.resume([{ topic, partitions: [...partitions] }]));
    this.#wakeUp.wake();
  }

  #finish(end: LifeEnd): void {
    this.#over = true;
    this.#resolve(end);
  }

  /** kafkajs throws while no run is active. Whatever was wanted is then decided anew at the next join. */
  #steer(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#source.logger.debug({ error: classifyError(error).text }, "the consumer is not running");
    }
  }

  async #run(): Promise<void> {
    const { topic, timings, clock } = this.#source;
    const startMs = timings.connectMs * 3;
    const joinMs = timings.rebalanceTimeoutMs + timings.requestMs;
    try {
      await withDeadline(clock, startMs, "connect", this.#consumer.connect());
      await withDeadline(clock, startMs, "subscribe", this.#consumer.subscribe({ topic, fromBeginning: true }));
      this.#running = this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        // One worker can miss a wake-up of kafkajs' queue and hang.
        partitionsConsumedConcurrently: 2,
        // Never called: the guards hand our batches over as bytes.
        eachBatch: async () => undefined,
      });
      await withDeadline(clock, joinMs, "join", this.#running);
    } catch (error) {
      this.#finish(endOf(error, this.#source.topic));
    }
  }

  #listen(): void {
    const { events } = this.#consumer;
    const sign = (): void => {
      this.#lastSign = this.#source.clock.monotonic();
    };
    this.#consumer.on(events.HEARTBEAT, sign);
    this.#consumer.on(events.FETCH, sign);
    this.#consumer.on(events.REBALANCING, () => {
      sign();
      if (!this.#over) this.#listener.rebalancing();
    });
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      sign();
      const partitions = payload.memberAssignment[this.#source.topic] ?? [];
      // A join that completes while this life is being closed: nothing may be fetched before it has left again.
      if (this.#over) this.pause(partitions);
      else this.#listener.joined(payload.memberId, partitions);
    });
    this.#consumer.on(events.CRASH, ({ payload }) => this.#finish(endOf(payload.error, this.#source.topic)));
  }

  /** A consumer can die without a word. A join may rightly be silent for as long as the slowest member takes. */
  #watch(): void {
    const { clock, timings } = this.#source;
    const silenceMs = Math.max(2 * timings.sessionTimeoutMs, timings.rebalanceTimeoutMs + timings.sessionTimeoutMs);
    const check = (): void => {
      const silent = clock.monotonic() - this.#lastSign;
      if (this.#running !== undefined && silent > silenceMs) {
        this.#finish({ cause: "timeout", text: `the consumer gave no sign of life for ${Math.round(silent)} ms` });
        return;
      }
      this.#cancelWatch = clock.after(silenceMs / 4, check);
    };
    this.#cancelWatch = clock.after(silenceMs / 4, check);
  }

  #guarded(): GuardedConsumer {
    const listener = this.#listener;
    return {
      attach: (group) => {
        this.#group = group;
        if (!this.#over) listener.attach(group);
      },
      longPollMs: (flowing) => {
        const { idleWaitMs, fetchWaitMs } = this.#source.timings;
        return flowing ? idleWaitMs : fetchWaitMs;
      },
      untilWoken: (waitMs) => this.#wakeUp.wait(waitMs),
      outOfRange: (partition, position) => {
        if (!this.#over) listener.outOfRange(partition, position);
      },
      fetched: (fetched, group) => {
        if (!this.#over) listener.fetched(fetched, group);
      },
      partitionError: (partition, errorCode) => {
        if (!this.#over) listener.partitionError(partition, errorCode);
      },
      staleBatch: (partition) => listener.staleBatch(partition),
    };
  }
}

function endOf(error: unknown, topic: string): LifeEnd {
  const { code, text } = classifyError(error, topic);
  return { cause: code, text };
}

/** kafkajs awaits this in its crash handler, where a rejection would be nobody's: it would end the process. */
function swallowDisconnectErrors(cluster: Cluster): void {
  const disconnect = cluster.disconnect.bind(cluster);
  cluster.disconnect = async () => {
    await Promise.allSettled([disconnect()]);
  };
}
