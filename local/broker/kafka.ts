import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCommand } from "../process/command.ts";
import type { SupervisedProcess } from "../process/supervised.ts";
import { startSupervised } from "../process/supervised.ts";
import type { KafkaIdentity } from "./kafka-settings.ts";
import { LOG4J2_YAML, randomClusterId, serverProperties } from "./kafka-settings.ts";
import type { LocalBroker, StartBrokerOptions } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { freePorts, isPortFree } from "./ports.ts";
import { javaCommand } from "./probes.ts";
import { ForeignBrokerError, waitUntilReady } from "./readiness.ts";

const READY_DEADLINE_MS = 120_000;
const FORMAT_LIMIT_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const PORT_ATTEMPTS = 5;
const LOG_LINES = 25;

/** A port of ours was taken by somebody else between its choice and its use. */
class PortTakenError extends LocalBrokerError {}

/** Everything that one broker of ours has on disk. */
interface Folder {
  readonly path: string;
  readonly temporary: boolean;
  readonly log: string;
  readonly properties: string;
  readonly identity: string;
  readonly data: string;
}

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
        const identity = await prepare(folder, jars, options);
        const child = await launch(folder, jars, identity, options);
        return new KafkaBroker(folder, jars, identity, child);
      } catch (error) {
        const taken = error instanceof PortTakenError || error instanceof ForeignBrokerError;
        if (!taken || attempt === PORT_ATTEMPTS || options.port !== undefined || !folder.temporary) throw error;
        await Promise.all([folder.data, folder.identity].map((path) => rm(path, { recursive: true, force: true })));
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
  readonly #folder: Folder;
  readonly #jars: string;
  readonly #identity: KafkaIdentity;
  #child: SupervisedProcess;

  constructor(folder: Folder, jars: string, identity: KafkaIdentity, child: SupervisedProcess) {
    this.brokers = [`127.0.0.1:${identity.port}`];
    this.#folder = folder;
    this.#jars = jars;
    this.#identity = identity;
    this.#child = child;
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
    this.#child = await launch(this.#folder, this.#jars, this.#identity, {});
  }
}

async function openFolder(given: string | undefined): Promise<Folder> {
  if (given !== undefined) await mkdir(given, { recursive: true });
  const path = given ?? (await mkdtemp(join(tmpdir(), "ysearch-broker-")));
  return {
    path,
    temporary: given === undefined,
    log: join(path, "broker.log"),
    properties: join(path, "server.properties"),
    identity: join(path, "identity.json"),
    data: join(path, "data"),
  };
}

/** Decides who this broker is, writes its files and formats its data unless that was done by an earlier start. */
async function prepare(folder: Folder, jars: string, options: StartBrokerOptions): Promise<KafkaIdentity> {
  const before = await readIdentity(folder);
  const identity = before === undefined ? await newIdentity(options.port) : withPort(before, options.port);
  await writeFile(folder.properties, serverProperties(identity, folder.data, options.settings ?? {}));
  await writeFile(join(folder.path, "log4j2.yaml"), LOG4J2_YAML);
  await writeFile(folder.identity, JSON.stringify(identity));
  if (!(await exists(join(folder.data, "meta.properties")))) await format(folder, jars, identity, options.signal);
  return identity;
}

async function readIdentity(folder: Folder): Promise<KafkaIdentity | undefined> {
  if (!(await exists(join(folder.data, "meta.properties")))) return undefined;
  const text = await readFile(folder.identity, "utf8").catch(() => "{}");
  const value: unknown = JSON.parse(text);
  if (isIdentity(value)) return value;
  throw new LocalBrokerError(`${folder.path} holds broker data that is not ours; name another folder`);
}

function isIdentity(value: unknown): value is KafkaIdentity {
  if (typeof value !== "object" || value === null) return false;
  const { clusterId, port, controllerPort }: Partial<Record<keyof KafkaIdentity, unknown>> = value;
  return typeof clusterId === "string" && Number.isSafeInteger(port) && Number.isSafeInteger(controllerPort);
}

async function newIdentity(port: number | undefined): Promise<KafkaIdentity> {
  const [first = 0, second = 0] = await freePorts(2);
  return { clusterId: randomClusterId(), port: port ?? first, controllerPort: second };
}

/** The controller's port stays: it is written into the formatted data as the address of the only voter. */
function withPort(identity: KafkaIdentity, port: number | undefined): KafkaIdentity {
  return port === undefined ? identity : { ...identity, port };
}

async function format(
  folder: Folder,
  jars: string,
  identity: KafkaIdentity,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = ["format", "-t", identity.clusterId, "-c", folder.properties, "--standalone"];
  const result = await runCommand(javaCommand(), [...java(folder, jars, 256), "kafka.tools.StorageTool", ...args], {
    timeoutMs: FORMAT_LIMIT_MS,
    signal,
  });
  if (result.code === 0) return;
  const why = result.failure ?? `code ${String(result.code)}`;
  throw new LocalBrokerError(`Kafka's data folder could not be formatted: ${why}\n${result.output}`);
}

async function launch(
  folder: Folder,
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
    args: [...java(folder, jars, 512), "kafka.Kafka", folder.properties],
    logFile: folder.log,
    removeWhenOrphaned: folder.temporary ? folder.path : undefined,
  });
  try {
    await waitUntilReady({
      brokers: [`127.0.0.1:${identity.port}`],
      clusterId: identity.clusterId,
      deadlineMs: READY_DEADLINE_MS,
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
async function explained(error: unknown, folder: Folder): Promise<unknown> {
  if (!(error instanceof LocalBrokerError) || error instanceof ForeignBrokerError) return error;
  const log = await readFile(folder.log, "utf8").catch(() => "");
  const text = `${error.message}\n${log.trimEnd().split("\n").slice(-LOG_LINES).join("\n")}`;
  if (/Address already in use|BindException/.test(log)) return new PortTakenError(text, { cause: error });
  return new LocalBrokerError(text, { cause: error });
}

function java(folder: Folder, jars: string, heapMiB: number): readonly string[] {
  return [
    "-Xms64m",
    `-Xmx${heapMiB}m`,
    "-XX:+UseSerialGC",
    "-cp",
    join(jars, "*"),
    `-Dlog4j2.configurationFile=file:${join(folder.path, "log4j2.yaml")}`,
  ];
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
