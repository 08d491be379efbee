import type { BrokerWay, WantedWay } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";

/** What this machine offers, as the probes found it. */
export interface Probes {
  /** The value of KAFKA_BROKERS. */
  readonly kafkaBrokers: string | undefined;
  /** The Docker engine's version, or why no engine answered. */
  readonly docker: { readonly engine: string } | { readonly missing: string };
  /** Java's major version, or why there is none. */
  readonly java: { readonly major: number } | { readonly missing: string };
  /** Maven's presence, or why it is missing. */
  readonly maven: { readonly present: true } | { readonly missing: string };
  /** Kafka's jars were fetched by an earlier run, so that Maven is not needed. */
  readonly jarsCached: boolean;
}

/** Oldest Java that Kafka 4 runs on. */
const LOWEST_JAVA = 17;

/** Parses `host:port,host:port`. @throws LocalBrokerError when an address is not one. */
export function parseBrokers(text: string): readonly string[] {
  const brokers = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  for (const broker of brokers) {
    const port = Number(/^[^\s:]+:(\d{1,5})$|^\[[0-9a-fA-F:]+\]:(\d{1,5})$/.exec(broker)?.slice(1).find(Boolean));
    if (!(port >= 1 && port <= 65_535)) {
      throw new LocalBrokerError(`KAFKA_BROKERS holds ${JSON.stringify(broker)}, which is not host:port`);
    }
  }
  if (brokers.length === 0)
    throw new LocalBrokerError("KAFKA_BROKERS is set but names no broker; unset it or name one");
  return brokers;
}

/** The major version in what `java -version` writes; undefined when there is none. Java 8 calls itself 1.8. */
export function javaMajor(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output);
  return match === null ? undefined : Number(match[1]);
}

/** Why Apache Kafka cannot be run here; undefined when it can. */
export function kafkaObstacle(probes: Pick<Probes, "java" | "maven" | "jarsCached">): string | undefined {
  if ("missing" in probes.java) return probes.java.missing;
  if (probes.java.major < LOWEST_JAVA) return `Java ${probes.java.major} is too old`;
  if (!probes.jarsCached && "missing" in probes.maven) return probes.maven.missing;
  return undefined;
}

/**
 * The way to a broker: the one that the environment names, else a Docker engine that answers, else Apache Kafka.
 *
 * @param wanted `kafka` passes over the two others; `own` over the first and prefers Kafka, which restarts faster.
 * @throws LocalBrokerError that names all ways and what to do for each, when none is open.
 */
export function chooseWay(probes: Probes, wanted: WantedWay): BrokerWay {
  if (wanted === "auto" && probes.kafkaBrokers !== undefined && probes.kafkaBrokers !== "") return "external";
  if (wanted === "auto" && "engine" in probes.docker) return "docker";
  const obstacle = kafkaObstacle(probes);
  if (obstacle === undefined) return "kafka";
  if (wanted === "own" && "engine" in probes.docker) return "docker";
  throw new LocalBrokerError(
    wanted === "kafka"
      ? `Apache Kafka cannot be run here: ${obstacle}. Install a JDK or JRE ${LOWEST_JAVA} or newer and Maven.`
      : noWay(probes, obstacle),
  );
}

function noWay(probes: Probes, obstacle: string): string {
  const docker = "missing" in probes.docker ? probes.docker.missing : "an engine answers, but could not be used";
  return [
    "There is no Kafka-protocol broker to use. Open one of three ways:",
    "  1. a broker of yours: set KAFKA_BROKERS=host:port (it is not set)",
    `  2. Docker: start the Docker engine (${docker})`,
    `  3. Apache Kafka on Java: install a JDK or JRE ${LOWEST_JAVA} or newer and Maven (${obstacle})`,
  ].join("\n");
}
