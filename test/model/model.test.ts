import { describe, expect, it } from "vitest";
import { runSchedule } from "./schedule.ts";
import { ALL_RULES, type Rules } from "./world.ts";

/** Schedules of the default run; `MODEL_SCHEDULES` asks for more, `MODEL_SEED` for others. */
const SCHEDULES = Number(process.env["MODEL_SCHEDULES"] ?? 2_000);
const SEED = Number(process.env["MODEL_SEED"] ?? 1);
/** Schedules within which a broken rule must show. */
const WITHIN = 4_000;

/** The first schedule that ends with a wrong total. */
function firstWrong(schedules: number, rules: Partial<Rules> = {}): string | undefined {
  for (let seed = SEED; seed < SEED + schedules; seed += 1) {
    const { wrong } = runSchedule(seed, rules);
    if (wrong !== undefined) return `seed ${seed}: ${wrong}`;
  }
  return undefined;
}

describe("counting, exactly once (I8)", () => {
  it(
    `holds in ${SCHEDULES} schedules, which go through everything`,
    () => {
      const sums: Record<string, number> = {};
      for (let seed = SEED; seed < SEED + SCHEDULES; seed += 1) {
        const { wrong, seen } = runSchedule(seed);
        expect(wrong, `seed ${seed}`).toBeUndefined();
        for (const [name, count] of Object.entries(seen)) sums[name] = (sums[name] ?? 0) + count;
      }
      for (const [name, count] of Object.entries(sums)) expect(count, name).toBeGreaterThan(SCHEDULES / 50);
    },
    60_000 + 20 * SCHEDULES,
  );

  it.each(Object.keys(ALL_RULES))("without the rule %s shows wrong totals", (rule) => {
    expect(firstWrong(WITHIN, { [rule]: false })).toMatch(/key \d/);
  });
});
