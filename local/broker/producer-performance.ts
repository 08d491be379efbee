import { join } from "node:path";

import { runCommand } from "../process/command.ts";
import { fetchJars, KAFKA_TOOLS_JARS } from "./jars.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { javaCommand } from "./probes.ts";

const LIMIT_MS = 5 * 60_000;

/** What {@link producePerformance} writes. */
export interface PerformanceLoad {
  readonly topic: string;
  readonly records: number;
  /** Bytes of random letters per record; the records have no key. */
  readonly recordBytes: number;
  readonly compression: "none" | "gzip" | "snappy" | "lz4" | "zstd";
  /** Bytes that a batch may hold; with a long linger, all records of a partition go into one. */
  readonly batchBytes?: number;
  readonly lingerMs?: number;
  /** Further producer settings by Kafka's names. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Writes records with Kafka's own Java producer: for batches that kafkajs cannot make (140,000 records in one, every
 * compression). Needs Java and, the first time, Maven, whatever way the broker was had.
 *
 * @throws LocalBrokerError when the tool fails, with what it wrote.
 */
export async function producePerformance(
  brokers: readonly string[],
  load: PerformanceLoad,
  onProgress?: (line: string) => void,
): Promise<void> {
  const jars = await fetchJars(KAFKA_TOOLS_JARS, { onProgress });
  const settings = {
    "bootstrap.servers": brokers.join(","),
    acks: "all",
    "compression.type": load.compression,
    "batch.size": String(load.batchBytes ?? 65_536),
    "linger.ms": String(load.lingerMs ?? 20),
    ...load.settings,
  };
  const numbers = ["--num-records", String(load.records), "--record-size", String(load.recordBytes)];
  const java = ["-Xmx512m", "-XX:+UseSerialGC", "-cp", join(jars, "*"), "org.apache.kafka.tools.ProducerPerformance"];
  const tool = ["--topic", load.topic, ...numbers, "--throughput", "-1", "--producer-props"];
  const properties = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const result = await runCommand(javaCommand(), [...java, ...tool, ...properties], { timeoutMs: LIMIT_MS });
  if (result.code === 0 && !/Exception/.test(result.output)) return;
  throw new LocalBrokerError(`ProducerPerformance failed: ${result.failure ?? ""}\n${result.output.slice(-2_000)}`);
}
