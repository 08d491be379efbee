import * as fc from "fast-check";
import { describe, it } from "vitest";
import { schedules } from "../model/commands.ts";
import { World } from "../model/world.ts";

/** More of them, and others, for a soak: `KV_MODEL_RUNS=20000 KV_MODEL_SEED=7`. */
const numRuns = Number(process.env["KV_MODEL_RUNS"] ?? 150);
/** Unless it is `0`, a schedule that fails is made shorter first, which takes a minute. */
const endOnFailure = process.env["KV_MODEL_SHRINK"] === "0";
const seed = Number(process.env["KV_MODEL_SEED"] ?? 1);

describe.each([2, 3] as const)("any schedule of calls, losses and returns, W = %i", (writeAcks) => {
  it("keeps what was acknowledged, lets no read go back, and ends with three equal owners", async () => {
    await fc.assert(
      fc.asyncProperty(schedules, (schedule) => new World(writeAcks).run(schedule)),
      { seed: seed * writeAcks, numRuns: writeAcks === 2 ? numRuns : Math.ceil(numRuns / 3), endOnFailure },
    );
  }, 3_600_000);
});
