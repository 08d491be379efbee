#!/usr/bin/env node
import { EXIT, packageVersion, processInputs, runCli } from "./cli/index.ts";
import { type LoadedConfig, rereadSources } from "./config/index.ts";
import { createLogger } from "./logger.ts";
import { InvariantViolation } from "./core/invariant.ts";
import type { Logger } from "./ports/logger.ts";
import { KvFault } from "./ports/kv-plane.ts";
import { sourceFaults } from "./wiring/source-faults.ts";
import { type Service, wire } from "./wiring/wire.ts";
import { StreamsError } from "./errors.ts";
import { sleep, systemClock } from "./clock.ts";

/** Time that closing the API and the store may take after the drain, before the process gives up. */
const CLOSE_MS = 10_000;

/** Runs the service until SIGTERM, SIGINT or SIGHUP. Returns the exit code: 0 after a clean stop, 1 when it could not run. */
async function serve(loaded: LoadedConfig): Promise<number> {
  const { config } = loaded;
  const logger = createLogger(config.log);
  const release = packageVersion();
  process.on("unhandledRejection", (reason) =>
    logger.error({ error: reason }, "a promise was rejected and nobody looked"),
  );
  let service: Service;
  try {
    const sources = rereadSources(loaded, processInputs(), (text) => logger.warn({}, text));
    service = await wire(config, logger, release, sources);
  } catch (error) {
    return refuse(logger, error);
  }
  const stopping = signalled(logger);
  const { host, port } = config.http;
  let address: string;
  try {
    address = await service.app.listen({ host, port });
  } catch (error) {
    logger.error({ code: "LISTEN_FAILED", host, port }, error instanceof Error ? error.message : String(error));
    await stop(service, 0, logger);
    return EXIT.fault;
  }
  logger.info({ address, release, node: process.version }, "listening");
  const failed = service.fleet.start().then(
    () => new Promise<never>(() => {}),
    (error: unknown) => refuse(logger, error),
  );
  const code = await Promise.race([stopping.then(() => EXIT.done), failed]);
  await stop(service, config.limits.drainTimeoutMs, logger);
  return code;
}

async function stop(service: Service, drainMs: number, logger: Logger): Promise<void> {
  const deadline = systemClock.after(drainMs + CLOSE_MS, () => {
    logger.error({}, "could not stop in time; what was not committed is read again");
    process.exit(EXIT.fault);
  });
  const { uncommitted, hanging } = await service.close(drainMs);
  deadline();
  logger.info({ uncommitted, hanging }, "stopped");
}

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP. Further ones change nothing: a supervisor and a terminal may both
 * deliver one, and ending at once would leave what is acknowledged uncommitted. The drain has a deadline of its own.
 */
function signalled(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    let draining = false;
    const onSignal = (signal: NodeJS.Signals) => {
      logger.info({ signal }, draining ? "draining already" : "draining");
      draining = true;
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}

/** A start that an operator has to mend: one line that says what is wrong. */
function refuse(logger: Logger, error: unknown): number {
  const code = error instanceof StreamsError || error instanceof KvFault || error instanceof InvariantViolation;
  const fields = code ? { code: error.code } : { code: "START_FAILED", error };
  logger.error(fields, error instanceof Error ? error.message : String(error));
  return EXIT.fault;
}

process.exit(await runCli({ ...processInputs(), pause: sleep, serve, sourceFaults }));
