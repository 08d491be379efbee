import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { fetchJars, KAFKA_JARS } from "../../local/broker/jars.ts";
import { javaArguments, type openFolder } from "../../local/broker/kafka-folder.ts";
import { LOG4J2_YAML, randomClusterId, serverProperties } from "../../local/broker/kafka-settings.ts";
import { freePorts } from "../../local/broker/ports.ts";
import { javaCommand } from "../../local/broker/probes.ts";
import { waitUntilReady } from "../../local/broker/readiness.ts";
import { runCommand } from "../../local/process/command.ts";
import { startSupervised } from "../../local/process/supervised.ts";

const READY_MS = 60_000;
const FORMAT_MS = 60_000;
const STOP_MS = 10_000;

/** A listener beside the plain one that tests administrate over. */
export interface Listener {
  readonly name: string;
  readonly protocol: "PLAINTEXT" | "SSL" | "SASL_SSL" | "SASL_PLAINTEXT";
  readonly port: number;
  /** Port that clients are told to use; the listener's own when absent. */
  readonly advertisedPort?: number;
}

/** What {@link startCustomBroker} starts. */
export interface CustomBroker {
  /** A folder of its own; it is removed with the broker. */
  readonly folder: Awaited<ReturnType<typeof openFolder>>;
  readonly listeners: readonly Listener[];
  /** Further lines of server.properties. */
  readonly settings: Readonly<Record<string, string>>;
  /** Further arguments of the format. */
  readonly formatArguments?: readonly string[];
}

/** A broker with listeners that `local/broker` does not have. */
export interface RunningBroker {
  /** Plain, without authentication. */
  readonly admin: readonly string[];
  stop(): Promise<void>;
}

/** Starts an Apache Kafka of its own. Needs Java. @throws Error with the broker's last lines when it does not get ready */
export async function startCustomBroker(wanted: CustomBroker): Promise<RunningBroker> {
  const { folder, formatArguments = [] } = wanted;
  const jars = await fetchJars(KAFKA_JARS);
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const identity = { clusterId: randomClusterId(), port, controllerPort };
  await writeFile(folder.properties, propertiesOf(identity, wanted));
  await writeFile(join(folder.path, "log4j2.yaml"), LOG4J2_YAML);
  const java = javaArguments(folder, jars, { heapMiB: 512, shortLived: true });
  const format = ["format", "-t", identity.clusterId, "-c", folder.properties, "--standalone", ...formatArguments];
  const formatting = [...java, "kafka.tools.StorageTool", ...format];
  const formatted = await runCommand(javaCommand(), formatting, { timeoutMs: FORMAT_MS });
  if (formatted.code !== 0) throw new Error(`a broker could not be formatted: ${formatted.output}`);
  const child = await startSupervised({
    command: javaCommand(),
    args: [...java, "kafka.Kafka", folder.properties],
    logFile: folder.log,
    removeWhenOrphaned: folder.path,
  });
  const admin = [`127.0.0.1:${port}`];
  const stop = async (): Promise<void> => {
    await child.stop(STOP_MS);
    await rm(folder.path, { recursive: true, force: true });
  };
  try {
    const gaveUp = async () => (child.hasExited() ? "Kafka ended while it started" : undefined);
    await waitUntilReady({ brokers: admin, clusterId: identity.clusterId, deadlineMs: READY_MS, gaveUp });
  } catch (error) {
    const log = await readFile(folder.log, "utf8").catch(() => "");
    await stop();
    throw new Error(`a broker did not get ready:\n${log.slice(-3_000)}`, { cause: error });
  }
  return { admin, stop };
}

/** The local broker's settings, then ours: of two lines with one name, Java takes the later. */
function propertiesOf(
  identity: Parameters<typeof serverProperties>[0],
  { folder, listeners, settings }: CustomBroker,
): string {
  const plain: Listener = { name: "PLAINTEXT", protocol: "PLAINTEXT", port: identity.port };
  const controller: Listener = { name: "CONTROLLER", protocol: "PLAINTEXT", port: identity.controllerPort };
  const all = [plain, controller, ...listeners];
  const lines = {
    listeners: all.map(({ name, port }) => `${name}://127.0.0.1:${port}`).join(","),
    "advertised.listeners": [plain, ...listeners]
      .map(({ name, port, advertisedPort }) => `${name}://127.0.0.1:${advertisedPort ?? port}`)
      .join(","),
    "listener.security.protocol.map": all.map(({ name, protocol }) => `${name}:${protocol}`).join(","),
    ...settings,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}`);
  return `${serverProperties(identity, folder.data, {})}${text.join("\n")}\n`;
}
