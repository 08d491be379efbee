import { StreamsError } from "../../src/errors.ts";
import type { HealthQueries } from "../../src/ports/control-plane.ts";

/** Changes are made while serving only. @throws StreamsError NOT_READY while starting or draining */
export function refuseUnlessServing(health: HealthQueries): void {
  const { ready, phase } = health.ready();
  if (!ready) throw new StreamsError("NOT_READY", `the service is ${phase}; it takes no changes now`);
}

/** While the sources are not loaded, a list of them would say that there are none. @throws StreamsError NOT_READY */
export function refuseWhileStarting(health: HealthQueries): void {
  if (health.ready().phase !== "starting") return;
  throw new StreamsError("NOT_READY", "the sources are not loaded yet");
}
