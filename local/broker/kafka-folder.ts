import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCommand } from "../process/command.ts";
import type { KafkaIdentity } from "./kafka-settings.ts";
import { LOG4J2_YAML, randomClusterId, serverProperties } from "./kafka-settings.ts";
import type { StartBrokerOptions } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { freePorts } from "./ports.ts";
import { javaCommand } from "./probes.ts";

const FORMAT_LIMIT_MS = 60_000;

/** Everything that one broker of ours has on disk. */
export interface KafkaFolder {
  readonly path: string;
  readonly temporary: boolean;
  readonly log: string;
  readonly properties: string;
  readonly identity: string;
  readonly data: string;
}

/** The folder `given`, or a temporary one of our own. */
export async function openFolder(given: string | undefined): Promise<KafkaFolder> {
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

/**
 * Decides who this broker is, writes its files and formats its data unless that was done by an earlier start.
 *
 * @throws LocalBrokerError when a setting is refused, the data are not ours, or Kafka cannot format them.
 */
export async function prepareFolder(
  folder: KafkaFolder,
  jars: string,
  options: StartBrokerOptions,
): Promise<KafkaIdentity> {
  const before = await readIdentity(folder);
  const identity = before === undefined ? await newIdentity(options.port) : withPort(before, options.port);
  await writeFile(folder.properties, serverProperties(identity, folder.data, options.settings ?? {}));
  await writeFile(join(folder.path, "log4j2.yaml"), LOG4J2_YAML);
  await writeFile(folder.identity, JSON.stringify(identity));
  if (!(await exists(join(folder.data, "meta.properties")))) await format(folder, jars, identity, options.signal);
  return identity;
}

/** Empties a temporary folder for another try with other ports. */
export async function clearFolder(folder: KafkaFolder): Promise<void> {
  for (const path of [folder.data, folder.identity, folder.log]) await rm(path, { recursive: true, force: true });
}

async function readIdentity(folder: KafkaFolder): Promise<KafkaIdentity | undefined> {
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
  folder: KafkaFolder,
  jars: string,
  identity: KafkaIdentity,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = ["format", "-t", identity.clusterId, "-c", folder.properties, "--standalone"];
  const result = await runCommand(
    javaCommand(),
    [...javaArguments(folder, jars, { heapMiB: 256, shortLived: true }), "kafka.tools.StorageTool", ...args],
    {
      timeoutMs: FORMAT_LIMIT_MS,
      signal,
    },
  );
  if (result.code === 0) return;
  const why = result.failure ?? `code ${String(result.code)}`;
  throw new LocalBrokerError(`Kafka's data folder could not be formatted: ${why}\n${result.output}`);
}

/** What every Java of a broker is called with: heap, compiler, jars, log configuration. */
export function javaArguments(
  folder: KafkaFolder,
  jars: string,
  { heapMiB, shortLived }: { readonly heapMiB: number; readonly shortLived: boolean },
): readonly string[] {
  return [
    "-Xms64m",
    `-Xmx${heapMiB}m`,
    "-XX:+UseSerialGC",
    ...(shortLived ? ["-XX:TieredStopAtLevel=1"] : []),
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
