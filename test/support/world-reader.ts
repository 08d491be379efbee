import { FileSources } from "../../src/definitions/file-sources.ts";
import type { Fleet } from "../../src/fleet/fleet.ts";
import { SourceReader } from "../../src/queries/source-queries.ts";
import type { FleetWorld } from "./fleet-world.ts";

/** What REST reads of a world's one source, and a fleet of it for other readers. */
export function worldReader(world: FleetWorld) {
  const fleet = {
    services: () => [world.service],
    service: () => world.service,
    inForce: () => world.service.parts.inForce,
  };
  // Reading asks for no more of the fleet than this.
  const whole = fleet as Pick<Fleet, keyof typeof fleet> as Fleet;
  return { fleet, reader: new SourceReader(whole, world.clock, 1_000, new FileSources(() => [])) };
}
