import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import type { CountingBench, Figures } from "./counting-bench.ts";
import { quantile } from "./result.ts";
import { drainWithService } from "./service-drain.ts";

const RECORDS = 3_000_000;
const COUNTERS = 100_000;
const PARTITIONS = 8;
const DEADLINE_MS = 180_000;
const TURN_MS = 20;
const BAR_MS = 50;
const PATHS = ["/readyz", "/v1/lag"] as const;

/** How long answers take while the service counts as fast as it can. */
export async function measureLatency(bench: CountingBench): Promise<Figures> {
  const filled = await bench.fill(PARTITIONS, COUNTERS, RECORDS);
  return await bench.withService(filled, async (service) => {
    let ended = false;
    const asking = Promise.all(PATHS.map((path) => ask(service, path, () => ended)));
    const figures: Record<string, unknown> = {};
    try {
      await drainWithService(service, "traffic", filled.plan.records, DEADLINE_MS);
    } finally {
      ended = true;
    }
    for (const [index, times] of (await asking).entries()) {
      const path = PATHS[index] ?? "";
      const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Number(quantile(times, share).toFixed(1)));
      console.log(
        `    GET ${path.padEnd(8)} ${times.length} answers, p50 ${p50} ms, p99 ${p99} ms (bar ${BAR_MS}), at most ${max} ms`,
      );
      figures[path] = { answers: times.length, p50Ms: p50, p99Ms: p99, maxMs: max };
    }
    return figures;
  });
}

async function ask(service: ServiceProcess, path: string, ended: () => boolean): Promise<readonly number[]> {
  const times: number[] = [];
  while (!ended()) {
    const start = performance.now();
    const { status } = await service.get(path);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    times.push(performance.now() - start);
    await delay(TURN_MS);
  }
  return times;
}
