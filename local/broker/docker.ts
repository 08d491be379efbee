import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";

import { runCommand } from "../process/command.ts";
import type { LocalBroker, StartBrokerOptions } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { freePorts } from "./ports.ts";
import { waitUntilReady } from "./readiness.ts";

/** The Redpanda that is run in Docker. */
const REDPANDA_IMAGE = "redpandadata/redpanda:v26.1.12";
const PULL_LIMIT_MS = 10 * 60_000;
const CALL_LIMIT_MS = 60_000;
const READY_DEADLINE_MS = 90_000;
const PORT_ATTEMPTS = 5;

/**
 * Starts Redpanda in a container of its own, published on a loopback port.
 *
 * @throws LocalBrokerError when the image cannot be had or the container does not get ready.
 */
export async function startRedpanda(options: StartBrokerOptions): Promise<LocalBroker> {
  await pullImage(options);
  for (let attempt = 1; ; attempt += 1) {
    options.signal?.throwIfAborted();
    const port = options.port ?? (await freePorts(1))[0] ?? 0;
    const name = `ysearch-broker-${randomBytes(6).toString("hex")}`;
    options.onProgress?.(`starting Redpanda in Docker on 127.0.0.1:${port}`);
    // Before the container, so that there is no moment in which one could be left behind.
    const remover = removeWhenOrphaned(name);
    try {
      await docker(runArguments(name, port), options.signal);
      await ready(port, name, options.signal);
      return new RedpandaBroker(name, port, remover);
    } catch (error) {
      await release(remover);
      const taken = error instanceof Error && /port is already allocated|address already in use/.test(error.message);
      if (!taken || attempt === PORT_ATTEMPTS || options.port !== undefined) throw error;
    }
  }
}

class RedpandaBroker implements LocalBroker {
  readonly way = "docker";
  readonly pid = undefined;
  readonly brokers: readonly string[];
  readonly #name: string;
  readonly #port: number;
  readonly #remover: ChildProcess;

  constructor(name: string, port: number, remover: ChildProcess) {
    this.brokers = [`127.0.0.1:${port}`];
    this.#name = name;
    this.#port = port;
    this.#remover = remover;
  }

  async stop(): Promise<void> {
    await release(this.#remover);
  }

  async kill(): Promise<void> {
    await docker(["kill", "--signal", "KILL", this.#name]);
    await docker(["wait", this.#name]);
  }

  async restart(): Promise<void> {
    await docker(["stop", "-t", "10", this.#name]);
    await docker(["start", this.#name]);
    await ready(this.#port, this.#name);
  }
}

async function pullImage(options: StartBrokerOptions): Promise<void> {
  const limits = { timeoutMs: PULL_LIMIT_MS, signal: options.signal };
  const present = await runCommand("docker", ["image", "inspect", REDPANDA_IMAGE], limits);
  if (present.code === 0) return;
  options.onProgress?.(`pulling ${REDPANDA_IMAGE}, once`);
  const pulled = await runCommand("docker", ["pull", "--quiet", REDPANDA_IMAGE], limits);
  if (pulled.code === 0) return;
  throw new LocalBrokerError(`${REDPANDA_IMAGE} could not be pulled: ${pulled.failure ?? pulled.output}`);
}

function runArguments(name: string, port: number): readonly string[] {
  const container = ["run", "--detach", "--name", name, "--publish", `127.0.0.1:${port}:${port}`, REDPANDA_IMAGE];
  const node = ["redpanda", "start", "--mode", "dev-container", "--smp", "1", "--memory", "512M"];
  const address = ["--kafka-addr", `PLAINTEXT://0.0.0.0:${port}`];
  const advertised = ["--advertise-kafka-addr", `PLAINTEXT://127.0.0.1:${port}`];
  const settings = [
    "redpanda.auto_create_topics_enabled=false",
    "redpanda.group_initial_rebalance_delay=0",
    "redpanda.group_min_session_timeout_ms=1000",
  ];
  return [...container, ...node, ...address, ...advertised, ...settings.flatMap((setting) => ["--set", setting])];
}

async function ready(port: number, name: string, signal?: AbortSignal): Promise<void> {
  try {
    await waitUntilReady({
      brokers: [`127.0.0.1:${port}`],
      clusterId: undefined,
      deadlineMs: READY_DEADLINE_MS,
      everyPartition: true,
      gaveUp: () => obstacle(name),
      signal,
    });
  } catch (error) {
    if (!(error instanceof LocalBrokerError)) throw error;
    const log = await runCommand("docker", ["logs", "--tail", "25", name], { timeoutMs: CALL_LIMIT_MS });
    throw new LocalBrokerError(`${error.message}\n${log.output}`, { cause: error });
  }
}

/** Why waiting is of no use: the container does not run. An engine that does not answer in time is no answer. */
async function obstacle(name: string): Promise<string | undefined> {
  const state = await runCommand("docker", ["inspect", "--format", "{{.State.Status}}", name], {
    timeoutMs: CALL_LIMIT_MS,
  });
  if (state.code !== 0 || state.stdout === "running") return undefined;
  return `Redpanda's container is ${state.stdout}`;
}

async function docker(args: readonly string[], signal?: AbortSignal): Promise<void> {
  const result = await runCommand("docker", args, { timeoutMs: CALL_LIMIT_MS, signal });
  if (result.code === 0) return;
  throw new LocalBrokerError(`docker ${args[0] ?? ""} failed: ${result.failure ?? result.output}`);
}

/** A process that removes the container as soon as its stdin closes: by {@link release}, or because we are gone. */
function removeWhenOrphaned(name: string): ChildProcess {
  const remover = spawn("sh", ["-c", 'cat >/dev/null; exec docker rm --force --volumes "$0"', name], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  remover.unref();
  return remover;
}

async function release(remover: ChildProcess): Promise<void> {
  if (remover.exitCode !== null || remover.signalCode !== null) return;
  const gone = once(remover, "exit");
  remover.ref();
  remover.stdin?.end();
  await gone;
}
