import type { ConnectionOptions } from "node:tls";
import type { SASLOptions } from "kafkajs";
import type { Clock } from "../../src/ports/clock.ts";
import type { Logger } from "../../src/ports/logger.ts";

/** How to reach the brokers. */
export interface KafkaConnection {
  /** Bootstrap addresses, `host:port`. IPv6 literals are refused: kafkajs cannot read them. */
  readonly brokers: readonly string[];
  readonly ssl?: ConnectionOptions | boolean;
  readonly sasl?: SASLOptions;
  /** Name of this client in the brokers' logs and quotas. */
  readonly clientId: string;
}

/** What every client of this folder needs. */
export interface KafkaContext extends KafkaConnection {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How much one fetch may bring, in bytes. */
export interface FetchLimits {
  readonly fetchBytesPerPartition: number;
  readonly fetchBytes: number;
  /** Most bytes that one compressed batch may inflate to; a larger one stops its partition (`batch-too-large`). */
  readonly batchInflatedBytesMax: number;
  /** Inflated bytes after which a fetch of one partition takes no further batch; the rest is fetched again. */
  readonly fetchInflatedBytes: number;
}

/** Durations of a record source, in milliseconds. */
export interface SourceTimings {
  /**
   * How long the group keeps a silent member's partitions. It is also how long a killed process' partitions wait, since
   * kafkajs has no static membership; a restarted process avoids that by leaving for its predecessor (`leaveFor`).
   */
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  /** How long a join waits for the other members. Short: a member of ours answers a rebalance within a heartbeat. */
  readonly rebalanceTimeoutMs: number;
  /**
   * Long-poll time of a fetch while any partition is paused. Short, because one that is resumed while a fetch for its
   * idle siblings is under way has to wait for it. A loop in which everything is paused does not wait: `begin` and
   * `resume` wake it.
   */
  readonly fetchWaitMs: number;
  /**
   * Long-poll time while every partition is being read: the broker answers at once when there is something. It bounds
   * what an idle source costs (a request of kafkajs' lists all partitions), and delays a stop by as much.
   */
  readonly idleWaitMs: number;
  /** How soon new partitions and moved leaders are noticed at the latest. */
  readonly metadataMaxAgeMs: number;
  readonly connectMs: number;
  readonly requestMs: number;
  /** Deadline of one administrative call. */
  readonly adminMs: number;
  /** Wait before a new consumer is built, doubling up to `backoffMaxMs`: short, since it is what a broker's return waits for. */
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
}

/** Why a fetched batch was thrown away: it was fetched elsewhere than at the next position, or before a rejoin. */
export type DropReason = "mispositioned" | "stale";

/** Options of `createRecordSource`. */
export interface RecordSourceOptions extends KafkaContext {
  readonly topic: string;
  /** A group of this source alone: another subscription in it would hand partitions to nobody. */
  readonly group: string;
  readonly limits?: Partial<FetchLimits>;
  readonly timings?: Partial<SourceTimings>;
  /** Told the member id at each join: keep it, and pass it as `leaveFor` after a crash of this process. */
  readonly onMemberId?: (memberId: string) => void;
  /** Told of each batch that was fetched in vain; it is fetched again. For metrics: anything but a few is a finding. */
  readonly onDropped?: (reason: DropReason) => void;
  /** Member id of a predecessor that is certainly dead: the group forgets it before this one joins. */
  readonly leaveFor?: string;
}

const MIB = 1024 * 1024;

/** Defaults of {@link FetchLimits}. */
export const FETCH_LIMITS: FetchLimits = {
  fetchBytesPerPartition: MIB,
  fetchBytes: 8 * MIB,
  batchInflatedBytesMax: 64 * MIB,
  fetchInflatedBytes: 8 * MIB,
};

/** Defaults of {@link SourceTimings}. */
export const SOURCE_TIMINGS: SourceTimings = {
  sessionTimeoutMs: 10_000,
  heartbeatMs: 1_000,
  rebalanceTimeoutMs: 20_000,
  fetchWaitMs: 100,
  idleWaitMs: 500,
  metadataMaxAgeMs: 30_000,
  connectMs: 10_000,
  requestMs: 30_000,
  adminMs: 15_000,
  backoffMinMs: 250,
  backoffMaxMs: 3_000,
};

/** A source's options with every default filled in. */
export interface ResolvedSource extends Omit<RecordSourceOptions, "limits" | "timings"> {
  readonly limits: FetchLimits;
  readonly timings: SourceTimings;
}

/**
 * Fills in the defaults and checks what kafkajs would misread or silently accept.
 * @throws RangeError naming the option.
 */
export function resolveSource(options: RecordSourceOptions): ResolvedSource {
  requireConnection(options);
  const timings = { ...SOURCE_TIMINGS, ...options.timings };
  if (options.topic === "" || options.group === "") throw new RangeError("a topic and a group are required");
  if (timings.heartbeatMs * 3 > timings.sessionTimeoutMs) {
    throw new RangeError("three heartbeats must fit into sessionTimeoutMs");
  }
  if (Math.max(timings.fetchWaitMs, timings.idleWaitMs) > timings.heartbeatMs) {
    throw new RangeError(
      "fetchWaitMs and idleWaitMs must not exceed heartbeatMs: an idle loop heartbeats between fetches",
    );
  }
  return { ...options, limits: { ...FETCH_LIMITS, ...options.limits }, timings };
}

/** @throws RangeError for an empty list of brokers or an address that is not `host:port`. */
export function requireConnection(connection: KafkaConnection): void {
  if (connection.brokers.length === 0) throw new RangeError("brokers must not be empty");
  for (const broker of connection.brokers) {
    if (!/^[^\s:[\]]+:[0-9]{1,5}$/.test(broker)) throw new RangeError(`broker ${broker} is not host:port`);
  }
}
