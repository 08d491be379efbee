import { setTimeout as delay } from "node:timers/promises";

import { withAdmin } from "./admin.ts";
import { LocalBrokerError } from "./local-broker.ts";

const TURN_MS = 150;
const WARM_UP_GROUP = "ysearch-local-warm-up";

/** What {@link waitUntilReady} waits for. */
export interface ReadinessOptions {
  readonly brokers: readonly string[];
  /** The cluster id that the broker must have; undefined when it is not known before. */
  readonly clusterId: string | undefined;
  readonly deadlineMs: number;
  /** Waits for the leader of every partition there is as well: after a restart they come back one by one. */
  readonly everyPartition?: boolean;
  /** A reason to give up at once: the process has ended. Must not reject. */
  readonly gaveUp?: (() => Promise<string | undefined>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Another cluster answers at the address: its port was taken between the choice and the start. */
export class ForeignBrokerError extends LocalBrokerError {
  constructor(address: string, found: string) {
    super(`at ${address} another broker answers (cluster ${found})`);
    this.name = "ForeignBrokerError";
  }
}

/**
 * Returns when the broker answers metadata under the expected cluster id and its group coordinator answers, too: a
 * first group join before that fails for about a second on a fresh cluster, and kafkajs may give up on it.
 *
 * @returns the cluster id.
 * @throws ForeignBrokerError when another cluster answers; LocalBrokerError at the deadline, with the last failure;
 *   the signal's reason when it is aborted.
 */
export async function waitUntilReady(options: ReadinessOptions): Promise<string> {
  const deadline = Date.now() + options.deadlineMs;
  const address = options.brokers.join(",");
  let last: unknown;
  for (;;) {
    options.signal?.throwIfAborted();
    const reason = await options.gaveUp?.();
    if (reason !== undefined) throw new LocalBrokerError(reason);
    if (Date.now() > deadline) {
      const text = last instanceof Error ? last.message : "no answer";
      throw new LocalBrokerError(`no broker was ready at ${address} after ${options.deadlineMs} ms: ${text}`, {
        cause: last,
      });
    }
    try {
      return await askOnce(options, address);
    } catch (error) {
      if (error instanceof ForeignBrokerError) throw error;
      last = error;
      await delay(TURN_MS);
    }
  }
}

function askOnce(options: ReadinessOptions, address: string): Promise<string> {
  return withAdmin(options.brokers, async (admin) => {
    const { clusterId } = await admin.describeCluster();
    if (options.clusterId !== undefined && clusterId !== options.clusterId) {
      throw new ForeignBrokerError(address, clusterId);
    }
    await admin.fetchOffsets({ groupId: WARM_UP_GROUP });
    const topics = options.everyPartition === true ? await admin.listTopics() : [];
    for (const topic of topics) await admin.fetchTopicOffsets(topic);
    return clusterId;
  });
}
