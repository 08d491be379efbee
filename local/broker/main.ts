import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";

import { outliveTerminal } from "../process/terminal.ts";
import type { LocalBroker, StartBrokerOptions } from "./local-broker.ts";
import { LocalBrokerError } from "./local-broker.ts";
import { startBroker } from "./start-broker.ts";

const USAGE = `npm run broker [-- --port N] [--data DIRECTORY]

Runs a Kafka-protocol broker in the foreground until Ctrl-C.
  --port N          listen on this port of 127.0.0.1 instead of a free one
  --data DIRECTORY  keep the data here (Apache Kafka); without it they are removed at the end`;

/** Reads the flags. @throws LocalBrokerError with the usage when one is unknown or has a wrong value. */
function readFlags(args: readonly string[]): StartBrokerOptions | "help" {
  const { port, data, help } = parse(args);
  if (help === true) return "help";
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && !(Number.isInteger(number) && number >= 1 && number <= 65_535)) {
    throw new LocalBrokerError(`--port ${String(port)} is not a port\n\n${USAGE}`);
  }
  return {
    ...(number === undefined ? {} : { port: number }),
    ...(data === undefined ? {} : { dataDirectory: resolve(data) }),
  };
}

function parse(args: readonly string[]): { port?: string; data?: string; help?: boolean } {
  try {
    return parseArgs({
      args: [...args],
      options: { port: { type: "string" }, data: { type: "string" }, help: { type: "boolean" } },
    }).values;
  } catch (error) {
    throw new LocalBrokerError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

/** Returns when the broker's process is gone; never, when it is not a process of ours. */
async function gone(broker: LocalBroker, signal: AbortSignal): Promise<void> {
  const { pid } = broker;
  if (pid === undefined) return once(signal, "abort").then(() => undefined);
  for (;;) {
    await delay(500, undefined, { signal });
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
  }
}

async function main(): Promise<number> {
  const flags = readFlags(process.argv.slice(2));
  if (flags === "help") {
    console.log(USAGE);
    return 0;
  }
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => interrupt.abort());
  outliveTerminal();
  const broker = await startBroker({
    ...flags,
    signal: interrupt.signal,
    onProgress: (line) => console.error(`[broker] ${line}`),
  });
  console.log(`KAFKA_BROKERS=${broker.brokers.join(",")}`);
  if (broker.way === "external") {
    console.log("KAFKA_BROKERS is set and that broker answers; nothing was started.");
    return 0;
  }
  console.log("Ctrl-C stops it.");
  await gone(broker, interrupt.signal).catch((error: unknown) => {
    if (!interrupt.signal.aborted) throw error;
  });
  const failed = !interrupt.signal.aborted;
  if (failed) console.error("The broker ended by itself.");
  await broker.stop();
  return failed ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  const interrupted = error instanceof Error && error.name === "AbortError";
  if (!interrupted) console.error(error instanceof LocalBrokerError ? error.message : error);
  process.exitCode = interrupted ? 0 : 1;
}
