import { describe, expect, it } from "vitest";
import { RecentErrors } from "../../src/fleet/recent-errors.ts";
import type { Logger } from "../../src/ports/logger.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { SOURCE_FAULTS, SourceFault } from "../../src/ports/record-source.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { ManualClock } from "../support/manual-clock.ts";

interface Line {
  readonly text: string;
  readonly fields: object;
}

function keeping(): { readonly lines: Line[]; readonly logger: Logger } {
  const lines: Line[] = [];
  const keep = (fields: object, text: string) => void lines.push({ text, fields });
  const logger: Logger = { debug() {}, info: keep, warn: keep, error: keep, child: () => logger };
  return { lines, logger };
}

describe("the log during ten minutes without a broker", () => {
  it("has fewer than five lines a minute, and says when it began", async () => {
    const { lines, logger } = keeping();
    const world = new FleetWorld(32);
    world.logger = logger;
    for (let partition = 0; partition < 32; partition += 1) world.log.append(partition, `k${partition}`, "1");
    await world.start();
    await world.clock.advance(3_000);
    lines.length = 0;
    for (let partition = 0; partition < 32; partition += 1) world.log.append(partition, `k${partition}`, "bad");
    world.letters.away = true;
    world.source.poll();
    await world.clock.advance(0);
    world.source.away = true;
    for (let attempt = 0; attempt < 200; attempt += 1) {
      // A consumer that cannot connect ends now with this, now with that.
      const cause = SOURCE_FAULTS[attempt % 2 === 0 ? 0 : 7] ?? "unknown";
      world.service.state({ state: "backing-off", cause, text: `attempt ended: ${cause}`, rebuilds: attempt });
      if (attempt % 5 === 0) world.source.rejoin();
      await world.clock.advance(3_000);
    }
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.length / 10).toBeLessThan(5);
    expect(lines.at(-1)?.fields).toHaveProperty("repeated");
  });
});

describe("recent errors", () => {
  it("are one entry for one failure, with its count, its first and its last time, and where it happened", () => {
    const clock = new ManualClock();
    const errors = new RecentErrors(clock, keeping().logger);
    const began = clock.now();
    for (let round = 0; round < 50; round += 1) {
      errors.note({ code: "BROKER_TIMEOUT", text: "no answer", partition: round % 3 });
      errors.note({ code: "BROKER_UNREACHABLE", text: "connection refused" });
    }
    expect(errors.list()).toEqual([
      { at: began, firstAt: began, count: 50, code: "BROKER_UNREACHABLE", text: "connection refused" },
      { at: began, firstAt: began, count: 50, code: "BROKER_TIMEOUT", text: "partitions 0, 1, 2: no answer" },
    ]);
  });

  it("count attempts: a write once for each, a reading that partitions share once for all", async () => {
    const world = new FleetWorld(8);
    await world.start();
    await world.clock.advance(3_000);
    world.log.append(0, "a", "1");
    let writes = 0;
    world.plane.before = (call) => {
      if (call !== "write") return;
      writes += 1;
      throw new KvFault("KV_NO_QUORUM", "two owners are down");
    };
    world.source.poll();
    await world.clock.advance(2_000);
    expect(writes).toBeGreaterThan(2);
    const count = (code: string) => world.service.parts.errors.list().find((entry) => entry.code === code)?.count;
    expect(count("KV_NO_QUORUM")).toBe(writes);
    world.plane.before = () => {};
    await world.clock.advance(20_000);
    await world.crash();
    await world.start();
    let readings = 0;
    world.source.committed = () => {
      readings += 1;
      return Promise.reject(new SourceFault("timeout", "no answer"));
    };
    world.source.rejoin();
    await world.clock.advance(3_000);
    expect(readings).toBeGreaterThan(2);
    expect(count("BROKER_TIMEOUT")).toBe(readings);
  });

  it("a commit that fails and a reading that fails for the same reason are one failure", async () => {
    const world = new FleetWorld(1);
    world.log.append(0, "a", "1");
    await world.start();
    world.source.away = true;
    await world.clock.advance(20_000);
    const codes = world.service.parts.errors.list().map(({ code, text }) => `${code} ${text}`);
    expect(codes).toEqual(["BROKER_UNREACHABLE connection refused"]);
  });
});
