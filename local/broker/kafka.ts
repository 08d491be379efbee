import { readFile, rm } from "node:fs/promises";

import type { SupervisedProcess } from "../process/supervised.ts";
import { startSupervised } from "../process/supervised.ts";
import type { KafkaFolder } from "./kafka-folder.ts";
import { clearFolder, javaArguments, openFolder, prepareFolder } from "./kafka-folder.ts";
import type { KafkaIdentity } from "./kafka-settings.ts";
import type { LocalBroker, StartBrokerOptions } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { isPortFree } from "./ports.ts";
import { javaCommand } from "./probes.ts";
import { ForeignBrokerError, waitUntilReady } from "./readiness.ts";

const READY_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 10_000;
const PORT_ATTEMPTS = 5;
const LOG_LINES = 25;

/** A port of ours was taken by somebody else between its choice and its use. */
class PortTakenError extends LocalBrokerError {}

/**
 * Formats and starts a single-node Apache Kafka.
 *
 * @param jars the folder of its jars.
 * @throws LocalBrokerError when it does not get ready, with the last lines of its log.
 */
export async function startKafka(jars: string, options: StartBrokerOptions): Promise<LocalBroker> {
  const folder = await openFolder(options.dataDirectory);
  try {
    for (let attempt = 1; ; attempt += 1) {
      options.signal?.throwIfAborted();
      try {
        const identity = await prepareFolder(folder, jars, options);
        const child = await launch(folder, jars, identity, options);
        return new KafkaBroker(folder, jars, identity, child, options.shortLived === true);
      } catch (error) {
        const taken = error instanceof PortTakenError || error instanceof ForeignBrokerError;
        if (!taken || attempt === PORT_ATTEMPTS || options.port !== undefined || !folder.temporary) throw error;
        await clearFolder(folder);
      }
    }
  } catch (error) {
    if (folder.temporary) await rm(folder.path, { recursive: true, force: true });
    throw error;
  }
}

class KafkaBroker implements LocalBroker {
  readonly way = "kafka";
  readonly brokers: readonly string[];
  readonly #folder: KafkaFolder;
  readonly #jars: string;
  readonly #identity: KafkaIdentity;
  readonly #shortLived: boolean;
  #child: SupervisedProcess;

  constructor(
    folder: KafkaFolder,
    jars: string,
    identity: KafkaIdentity,
    child: SupervisedProcess,
    shortLived: boolean,
  ) {
    this.brokers = [`127.0.0.1:${identity.port}`];
    this.#folder = folder;
    this.#jars = jars;
    this.#identity = identity;
    this.#child = child;
    this.#shortLived = shortLived;
  }

  get pid(): number {
    return this.#child.pid;
  }

  async stop(): Promise<void> {
    await this.#child.stop(STOP_DEADLINE_MS);
    if (this.#folder.temporary) await rm(this.#folder.path, { recursive: true, force: true });
  }

  async kill(): Promise<void> {
    await this.#child.kill();
  }

  async restart(): Promise<void> {
    await this.#child.stop(STOP_DEADLINE_MS);
    this.#child = await launch(this.#folder, this.#jars, this.#identity, { shortLived: this.#shortLived });
  }
}

async function launch(
  folder: KafkaFolder,
  jars: string,
  identity: KafkaIdentity,
  options: StartBrokerOptions,
): Promise<SupervisedProcess> {
  for (const port of [identity.port, identity.controllerPort]) {
    if (!(await isPortFree(port))) throw new PortTakenError(`port ${port} of 127.0.0.1 is taken by somebody else`);
  }
  options.onProgress?.(`starting Apache Kafka on 127.0.0.1:${identity.port}`);
  const child = await startSupervised({
    command: javaCommand(),
    args: [
      ...javaArguments(folder, jars, { heapMiB: 512, shortLived: options.shortLived === true }),
      "kafka.Kafka",
      folder.properties,
    ],
    logFile: folder.log,
    removeWhenOrphaned: folder.temporary ? folder.path : undefined,
  });
  try {
    await waitUntilReady({
      brokers: [`127.0.0.1:${identity.port}`],
      clusterId: identity.clusterId,
      deadlineMs: READY_DEADLINE_MS,
      everyPartition: true,
      gaveUp: async () => (child.hasExited() ? "Kafka ended while it started" : undefined),
      signal: options.signal,
    });
    return child;
  } catch (error) {
    await child.kill();
    throw await explained(error, folder);
  }
}

/** Adds the end of the broker's log, and tells a taken port from other failures. */
async function explained(error: unknown, folder: KafkaFolder): Promise<unknown> {
  if (!(error instanceof LocalBrokerError) || error instanceof ForeignBrokerError) return error;
  const log = await readFile(folder.log, "utf8").catch(() => "");
  const text = `${error.message}\n${log.trimEnd().split("\n").slice(-LOG_LINES).join("\n")}`;
  if (/Address already in use|BindException/.test(log)) return new PortTakenError(text, { cause: error });
  return new LocalBrokerError(text, { cause: error });
}
