import { kinds } from "../../consumers/index.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { ExplainService } from "../../src/explain/explain-service.ts";
import { type FleetWorld, stubCompiler } from "../support/fleet-world.ts";

/** Explanations over a world. */
export function explaining(world: FleetWorld) {
  const catalog = new DescriptorCatalog(world.plane.control, (files) => createDescriptorChecks().digest(files));
  const service = new ExplainService({
    fleet: { service: () => world.service },
    plane: world.plane,
    verdicts: {
      control: world.plane.control,
      compiler: stubCompiler,
      kinds,
      descriptor: (subject, version) => catalog.get(subject, version),
    },
    readOwners: 2,
    clock: world.clock,
  });
  return {
    service,
    at: (offset: number, partition = 0) => service.record("articles", partition, offset),
    key: (text: string, last = 5) => service.key("articles", Buffer.from(text), last),
  };
}

/** Starts a process and lets it read. */
export async function started(world: FleetWorld, change: Parameters<FleetWorld["start"]>[0] = {}): Promise<FleetWorld> {
  await world.start(change);
  await world.clock.advance(4_000);
  return world;
}
