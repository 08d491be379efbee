import { createServer } from "node:net";
import { randomInt } from "node:crypto";

import { LocalBrokerError } from "./local-broker.ts";

/**
 * Below what Linux (32768) and macOS (49152) give to outgoing connections. A port from that range can be taken by
 * anybody's outgoing connection while a broker restarts, even by a client's that connects to itself.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;
const ATTEMPTS = 200;

/** True when nobody listens on this port of 127.0.0.1 now. Says nothing about a moment later. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * `count` different ports of 127.0.0.1 that are free now. Somebody may take one before its use: the caller checks and
 * asks again.
 *
 * @param isFree a replacement for the check, for tests.
 * @throws LocalBrokerError when no free port is found.
 */
export async function freePorts(
  count: number,
  isFree: (port: number) => Promise<boolean> = isPortFree,
): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let attempt = 0; attempt < ATTEMPTS && found.size < count; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  if (found.size < count) {
    throw new LocalBrokerError(`no ${count} free ports between ${LOWEST} and ${HIGHEST} on 127.0.0.1`);
  }
  return [...found];
}
