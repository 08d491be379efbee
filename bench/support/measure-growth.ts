import type { CountingBench, Figures } from "./counting-bench.ts";
import { drainOnce, print, row } from "./measure-rates.ts";
import { rateOf, type ServiceFigures } from "./service-drain.ts";

const RECORDS = 1_500_000;
const COUNTERS = 100_000;
const PARTITIONS = [1, 8, 64] as const;
const RSS_BAR_MIB = 512;

/** Throughput and memory by the number of partitions. */
export async function measureGrowth(bench: CountingBench): Promise<Figures> {
  const drains: ServiceFigures[] = [];
  for (const partitions of PARTITIONS) {
    const filled = await bench.fill(partitions, COUNTERS, RECORDS);
    const figures = await drainOnce(bench, filled);
    print(`${partitions} partitions`, [figures]);
    drains.push(figures);
  }
  const rates = drains.map(rateOf);
  const spread = Math.min(...rates) / Math.max(...rates);
  const mainRssMiB = Math.round(drains.at(-1)?.mainRssMiB ?? 0);
  console.log(
    `    slowest against fastest ${spread.toFixed(2)} (bar 0.8); RssAnon at 64 partitions ${mainRssMiB} MiB (bar ${RSS_BAR_MIB})`,
  );
  const rows = Object.fromEntries(PARTITIONS.map((count, index) => [count, row(drains.slice(index, index + 1))]));
  return { byPartitions: rows, slowestToFastest: spread };
}
