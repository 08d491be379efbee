import { StreamsError } from "../../src/errors.ts";
import type { HealthQueries } from "../../src/ports/control-plane.ts";

/** Changes are made while serving only. @throws StreamsError NOT_READY while starting or draining */
export function refuseUnlessServing(health: HealthQueries): void {
  const { ready, phase } = health.ready();
  if (!ready) throw new StreamsError("NOT_READY", `the service is ${phase}; it takes no changes now`);
}
