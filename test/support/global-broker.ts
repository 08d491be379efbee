import type { TestProject } from "vitest/node";

import { startBroker } from "../../local/broker/start-broker.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Bootstrap addresses of the run's shared broker. */
    readonly sharedBrokers: readonly string[];
  }
}

/** Starts the broker that all tests of a run share, hands its address to them, and returns what ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const broker = await startBroker({ onProgress: (line) => process.stderr.write(`[broker] ${line}\n`) });
  project.provide("sharedBrokers", broker.brokers);
  return () => broker.stop();
}
