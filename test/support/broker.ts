import { randomBytes } from "node:crypto";

import { inject, onTestFinished } from "vitest";

import type { LocalBroker, StartBrokerOptions } from "../../local/broker/local-broker.ts";
import { startBroker } from "../../local/broker/start-broker.ts";

/**
 * Bootstrap addresses of the broker that the whole run shares (project `broker` alone has one). Never stop it, change
 * its settings or count its topics and groups: others use it at the same time.
 */
export function useBroker(): readonly string[] {
  const brokers = inject("sharedBrokers");
  if (brokers === undefined) {
    throw new Error("no shared broker: the file must be in vitest's project 'broker' (see vitest.config.ts)");
  }
  return brokers;
}

/** A name for a topic or a group that nobody else in this run, or in an earlier one on the same broker, has. */
export function uniqueTopic(name: string): string {
  return `${name}-${randomBytes(5).toString("hex")}`;
}

/**
 * A broker of this test's own, to kill and restart: never the shared one, and Apache Kafka where that runs. It is stopped when the
 * test is finished, and removed with its data; call it inside a test (in a hook, stop it yourself).
 */
export async function startOwnBroker(options: StartBrokerOptions = {}): Promise<LocalBroker> {
  const broker = await startBroker({ way: "own", shortLived: true, ...options });
  onTestFinished(() => broker.stop());
  return broker;
}
