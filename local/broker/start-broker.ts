import { startRedpanda } from "./docker.ts";
import { fetchJars, KAFKA_JARS } from "./jars.ts";
import { startKafka } from "./kafka.ts";
import type { LocalBroker, StartBrokerOptions } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { probeMachine } from "./probes.ts";
import { waitUntilReady } from "./readiness.ts";
import { chooseWay, kafkaObstacle, parseBrokers } from "./ways.ts";

const EXTERNAL_DEADLINE_MS = 20_000;

/**
 * A broker that answers: the one that KAFKA_BROKERS names; else Redpanda, when a Docker engine answers; else Apache
 * Kafka, when Java and Maven are there. It is ready for topics and for consumer groups when this returns, and it does
 * not outlive this process.
 *
 * @throws LocalBrokerError when there is no way to a broker, or the chosen one does not get ready.
 */
export async function startBroker(options: StartBrokerOptions = {}): Promise<LocalBroker> {
  const ownFeatures = options.dataDirectory !== undefined || Object.keys(options.settings ?? {}).length > 0;
  const wanted = ownFeatures ? "kafka" : (options.way ?? "auto");
  const probes = await probeMachine(wanted);
  const way = chooseWay(probes, wanted);
  if (way === "external") return useExternal(parseBrokers(probes.kafkaBrokers ?? ""), options);
  if (way === "docker") {
    try {
      return await startRedpanda(options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof LocalBrokerError) || kafkaObstacle(probes) !== undefined) throw error;
      options.onProgress?.(`Redpanda could not be had (${error.message.split("\n")[0]}); Apache Kafka instead`);
    }
  }
  const jars = await fetchJars(KAFKA_JARS, { onProgress: options.onProgress, signal: options.signal });
  return startKafka(jars, options);
}

async function useExternal(brokers: readonly string[], options: StartBrokerOptions): Promise<LocalBroker> {
  options.onProgress?.(`using the broker at ${brokers.join(",")} (KAFKA_BROKERS)`);
  await waitUntilReady({ brokers, clusterId: undefined, deadlineMs: EXTERNAL_DEADLINE_MS, signal: options.signal });
  const refuse = async (): Promise<void> => {
    throw new LocalBrokerError("the broker of KAFKA_BROKERS is not ours to kill or restart; ask for way: own");
  };
  return { brokers, way: "external", pid: undefined, stop: async () => undefined, kill: refuse, restart: refuse };
}
