import { join } from "node:path";

import { runCommand } from "../process/command.ts";
import { areJarsCached, KAFKA_JARS } from "./jars.ts";
import type { WantedWay } from "./local-broker.ts";
import type { Probes } from "./ways.ts";
import { javaMajor } from "./ways.ts";

const PROBE_LIMIT_MS = 10_000;

/** The Java to run: JAVA_HOME's when it is set, else the one on the path. */
export function javaCommand(environment: NodeJS.ProcessEnv = process.env): string {
  const home = environment["JAVA_HOME"];
  return home === undefined || home === "" ? "java" : join(home, "bin", "java");
}

/** Asks this machine what it offers; every question has a time limit, none fails. */
export async function probeMachine(wanted: WantedWay): Promise<Probes> {
  const kafkaBrokers = process.env["KAFKA_BROKERS"];
  const [docker, java, maven, jarsCached] = await Promise.all([
    wanted === "own" || (wanted === "auto" && !kafkaBrokers) ? probeDocker() : { missing: "not asked" },
    probeJava(),
    probeMaven(),
    areJarsCached(KAFKA_JARS),
  ]);
  return { kafkaBrokers, docker, java, maven, jarsCached };
}

/** Asks the engine, not the client: a client alone starts nothing. */
async function probeDocker(): Promise<Probes["docker"]> {
  const result = await runCommand("docker", ["version", "--format", "{{.Server.Version}}"], {
    timeoutMs: PROBE_LIMIT_MS,
  });
  if (result.code === 0 && result.stdout !== "") return { engine: result.stdout };
  return { missing: result.failure ?? "the docker client is here, but no engine answers" };
}

async function probeJava(): Promise<Probes["java"]> {
  const command = javaCommand();
  const result = await runCommand(command, ["-version"], { timeoutMs: PROBE_LIMIT_MS });
  const major = result.code === 0 ? javaMajor(result.output) : undefined;
  if (major !== undefined) return { major };
  return { missing: result.failure ?? `${command} -version does not tell a version` };
}

async function probeMaven(): Promise<Probes["maven"]> {
  const result = await runCommand("mvn", ["-B", "-version"], { timeoutMs: PROBE_LIMIT_MS });
  if (result.code === 0) return { present: true };
  return { missing: result.failure ?? "mvn -version fails" };
}
