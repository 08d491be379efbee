import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import { type CountingBench, type Figures, SHARE } from "./counting-bench.ts";
import { appliedRecords } from "./service-drain.ts";

const RECORDS = 3_000_000;
const COUNTERS = 100_000;
const PARTITIONS = 8;
const KILLS = 5;
const DEADLINE_MS = 120_000;
const TURN_MS = 20;
const BAR_SECONDS = 5;
/** Records that are counted before a kill. */
const BETWEEN = 300_000 / SHARE;

/** SIGKILL at full speed, with default settings, and how long until records are counted again; at the end all are, once. */
export async function measureRestart(bench: CountingBench): Promise<Figures> {
  const filled = await bench.fill(PARTITIONS, COUNTERS, RECORDS);
  return await bench.withService(filled, async (service, folder) => {
    const seconds: number[] = [];
    await untilApplied(service, BETWEEN);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await service.kill();
      const start = performance.now();
      await service.restart();
      await untilApplied(service, 1);
      seconds.push((performance.now() - start) / 1_000);
      await untilApplied(service, BETWEEN);
    }
    await untilCommitted(service, filled.plan.records);
    await service.stop();
    await bench.check(folder, filled);
    const most = Math.max(...seconds);
    const shown = seconds.map((one) => one.toFixed(1)).join(", ");
    console.log(`    SIGKILL to counting again: ${shown} s (bar ${BAR_SECONDS}); totals exact`);
    return { seconds: seconds.map((one) => Number(one.toFixed(2))), secondsMax: Number(most.toFixed(2)) };
  });
}

async function untilApplied(service: ServiceProcess, records: number): Promise<void> {
  await until(async () => (await appliedRecords(service, "traffic")) >= records);
}

async function untilCommitted(service: ServiceProcess, records: number): Promise<void> {
  await until(async () => {
    const { body } = await service.get("/v1/sources/traffic/partitions");
    const { partitions } = body as { readonly partitions: readonly { readonly committed?: string }[] };
    return partitions.reduce((sum, { committed }) => sum + Number(committed ?? 0), 0) >= records;
  });
}

async function until(reached: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await reached())) {
    if (performance.now() > deadline) throw new Error(`not reached within ${DEADLINE_MS} ms`);
    await delay(TURN_MS);
  }
}
