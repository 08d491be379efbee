import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { LocalBroker } from "../../local/broker/local-broker.ts";
import { startBroker } from "../../local/broker/start-broker.ts";

/** A broker whose data on disk can be changed while it is down. */
export interface DataBroker {
  readonly brokers: readonly string[];
  /** A folder beside its data, for copies; removed with it. */
  readonly folder: string;
  /** Stops it cleanly, so that it does not look its log over at the next start, changes its data and starts it again. */
  whileDown(change: (data: string) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an Apache Kafka of its own. Needs Java. */
export async function startDataBroker(): Promise<DataBroker> {
  const folder = await mkdtemp(join(tmpdir(), "ysearch-broker-data-"));
  const dataDirectory = join(folder, "broker");
  let broker: LocalBroker = await startBroker({ dataDirectory, shortLived: true });
  return {
    brokers: broker.brokers,
    folder,
    whileDown: async (change) => {
      await broker.stop();
      await change(join(dataDirectory, "data"));
      broker = await startBroker({ dataDirectory, shortLived: true });
    },
    stop: async () => {
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
