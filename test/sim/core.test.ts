import { describe, expect, it } from "vitest";
import { CORE, MUTANTS } from "./core/mutants.ts";
import { runSchedule } from "./core/schedule.ts";

/** Schedules of the default run; `SIM_SCHEDULES` asks for more, `SIM_SEED` for others. */
const SCHEDULES = Number(process.env["SIM_SCHEDULES"] ?? 4_000);
const SEED = Number(process.env["SIM_SEED"] ?? 1);
/** Schedules within which a broken rule must show. */
const WITHIN = 6_000;

describe("the pure core, one partition, any schedule (I1 to I5, I11 to I13)", () => {
  it(
    `holds in ${SCHEDULES} schedules, many a second, which go through everything`,
    () => {
      const sums: Record<string, number> = {};
      const before = process.cpuUsage().user;
      for (let seed = SEED; seed < SEED + SCHEDULES; seed += 1) {
        const { wrong, seen } = runSchedule(seed, CORE);
        expect(wrong, `seed ${seed}`).toBeUndefined();
        for (const [name, count] of Object.entries(seen)) sums[name] = (sums[name] ?? 0) + count;
      }
      const seconds = (process.cpuUsage().user - before) / 1_000_000;
      // Thousands a second on a quiet core; half a thousand where two share one.
      expect(SCHEDULES / seconds).toBeGreaterThan(500);
      for (const name of [
        "stopped",
        "holding",
        "verifying",
        "running",
        "was resumed",
        "was frozen",
        "was elected uncleanly",
      ]) {
        expect(sums[name], name).toBeGreaterThan(SCHEDULES / 50);
      }
    },
    60_000 + 20 * SCHEDULES,
  );

  it.each(Object.entries(MUTANTS))("%s: is found", (_name, mutant) => {
    let found: string | undefined;
    for (let seed = SEED; seed < SEED + WITHIN && found === undefined; seed += 1)
      found = runSchedule(seed, mutant).wrong;
    expect(found).toBeDefined();
  });
});
