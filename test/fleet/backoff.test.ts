import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { attemptsWithin, backoffMs } from "../../src/fleet/backoff.ts";
import { FleetWorld } from "../support/fleet-world.ts";

describe("attempts within a time", () => {
  it.each([
    [1_000, 3],
    [30_000, 8],
    [600_000, 65],
    [1, 1],
  ])("%i ms are so many that their waits reach it, and one less do not", (forMs, attempts) => {
    const limits = { initialMs: 200, maxMs: 10_000 };
    const waited = (count: number) =>
      Array.from({ length: count }, (_unused, index) => backoffMs(index + 1, limits)).reduce((a, b) => a + b, 0);
    expect(attemptsWithin(forMs, limits)).toBe(attempts);
    expect(waited(attempts)).toBeGreaterThanOrEqual(forMs);
    expect(waited(attempts - 1)).toBeLessThan(forMs);
  });
});

describe("a log that ends below what was applied", () => {
  it("stops after about half a minute with the default limits, not before", async () => {
    const { limits } = loadConfig({
      env: {},
      cwd: "/srv/app",
      readFile: () => new TextEncoder().encode("broker: { brokers: ['localhost:9092'] }"),
    }).config;
    const backoff = { initialMs: limits.retryInitialMs, maxMs: limits.retryMaxMs };
    const world = new FleetWorld(1);
    world.backoff = backoff;
    world.disputesMax = attemptsWithin(limits.disputeForMs, backoff);
    for (let index = 0; index < 9; index += 1) world.log.append(0, "a", `${index}`);
    await world.start();
    await world.clock.advance(3_000);
    world.log.log(0).end = 4;
    await world.clock.advance(20_000);
    expect(world.stopCode()).toBeUndefined();
    await world.clock.advance(20_000);
    expect(world.stopCode()).toBe("ABOVE_LOG_END");
  });
});
