import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import type { CommandOptions, CommandResult } from "../process/command.ts";
import { runCommand } from "../process/command.ts";
import { LocalBrokerError } from "./local-broker.ts";

/** Kafka's version: the one that every kafkajs call was proved against. */
const KAFKA_VERSION = "4.4.0";
const LOG4J_VERSION = "2.25.3";
const COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
const FETCH_LIMIT_MS = 10 * 60_000;
const PROGRESS_MS = 5_000;

/** A set of jars that is fetched and cached as one. */
export interface JarSet {
  /** Name of its folder in the cache. */
  readonly name: string;
  /** `group:artifact:version` of what is asked for; what that needs comes with it. */
  readonly artifacts: readonly string[];
  /** A jar that must be there afterwards. */
  readonly witness: string;
}

const LOGGING = [
  `org.apache.logging.log4j:log4j-core:${LOG4J_VERSION}`,
  `org.apache.logging.log4j:log4j-slf4j-impl:${LOG4J_VERSION}`,
];

/** Enough to format and run a broker: 45 jars, 43 MB. */
export const KAFKA_JARS: JarSet = {
  name: `kafka-${KAFKA_VERSION}`,
  artifacts: [`org.apache.kafka:kafka_2.13:${KAFKA_VERSION}`, ...LOGGING],
  witness: `kafka_2.13-${KAFKA_VERSION}.jar`,
};

/** Kafka's own command-line tools (ProducerPerformance): 92 jars, 54 MB. */
export const KAFKA_TOOLS_JARS: JarSet = {
  name: `kafka-tools-${KAFKA_VERSION}`,
  artifacts: [`org.apache.kafka:kafka-tools:${KAFKA_VERSION}`, ...LOGGING],
  witness: `kafka-tools-${KAFKA_VERSION}.jar`,
};

/** Where fetched jars are kept: outside the checkout, so that a fresh clone finds them. */
function jarCacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const configured = environment["XDG_CACHE_HOME"];
  // The XDG rule: a relative path is to be ignored.
  const base = configured?.startsWith("/") === true ? configured : join(homedir(), ".cache");
  return join(base, "ysearch-streams");
}

/** Options of {@link fetchJars}; `run` and `cacheDirectory` are replaced in tests. */
export interface FetchJarsOptions {
  readonly cacheDirectory?: string;
  readonly run?: (command: string, args: readonly string[], options: CommandOptions) => Promise<CommandResult>;
  readonly onProgress?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** True when the set is whole in the cache. */
export async function areJarsCached(set: JarSet, cacheDirectory: string = jarCacheDirectory()): Promise<boolean> {
  return exists(join(cacheDirectory, set.name, "lib", set.witness));
}

/**
 * The folder that holds the set's jars, fetched by Maven (with whatever mirror its own settings name) when it is not in
 * the cache yet.
 *
 * Several processes may fetch at once: 1. each fetches into a folder of its own; 2. the first renames it to the final
 * name; 3. the rename of the others fails because the name is taken, and they use what is there. A half-fetched set
 * never has the final name.
 *
 * @throws LocalBrokerError when Maven fails, with its last lines.
 */
export async function fetchJars(set: JarSet, options: FetchJarsOptions = {}): Promise<string> {
  const cache = options.cacheDirectory ?? jarCacheDirectory();
  const final = join(cache, set.name);
  if (await areJarsCached(set, cache)) return join(final, "lib");
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(join(cache, `.${set.name}-`));
  try {
    await fetchInto(set, temporary, options);
    await takeName(set, temporary, final);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return join(final, "lib");
}

async function fetchInto(set: JarSet, directory: string, options: FetchJarsOptions): Promise<void> {
  const progress = options.onProgress ?? (() => undefined);
  const pom = join(directory, "pom.xml");
  await writeFile(pom, pomOf(set));
  const started = Date.now();
  progress(`fetching ${set.name} with Maven, once; the jars are kept in the user's cache folder`);
  const timer = setInterval(
    () => progress(`still fetching ${set.name} (${Math.round((Date.now() - started) / 1000)} s)`),
    PROGRESS_MS,
  );
  try {
    const run = options.run ?? runCommand;
    const args = ["-B", "-q", "-f", pom, COPY_DEPENDENCIES, "-DincludeScope=runtime"];
    const result = await run("mvn", [...args, `-DoutputDirectory=${join(directory, "lib")}`], {
      timeoutMs: FETCH_LIMIT_MS,
      signal: options.signal,
    });
    if (result.code !== 0 || !(await exists(join(directory, "lib", set.witness)))) throw fetchFailed(set, result);
  } finally {
    clearInterval(timer);
  }
}

function fetchFailed(set: JarSet, result: CommandResult): LocalBrokerError {
  const why = result.failure ?? `mvn ended with code ${String(result.code)}`;
  const lines = result.output.split("\n").slice(-15).join("\n");
  return new LocalBrokerError(`${set.name} could not be fetched: ${why}\n${lines}`);
}

async function takeName(set: JarSet, temporary: string, final: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await rename(temporary, final);
      return;
    } catch (error) {
      if (await exists(join(final, "lib", set.witness))) return;
      if (attempt > 0) throw new LocalBrokerError(`${set.name} could not be put into the cache`, { cause: error });
      // What has the name is not a whole set (somebody emptied it): it goes, and the name is tried once more.
      await rm(final, { recursive: true, force: true });
    }
  }
}

function pomOf(set: JarSet): string {
  const dependencies = set.artifacts.map((artifact) => {
    const [group = "", name = "", version = ""] = artifact.split(":");
    return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ysearch</groupId><artifactId>${set.name}</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${dependencies.join("\n    ")}
  </dependencies>
</project>
`;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
