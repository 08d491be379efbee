import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drainWithKafkajs } from "./support/kafkajs-alone.ts";
import { measureGrowth } from "./support/measure-growth.ts";
import { measureLatency } from "./support/measure-latency.ts";
import { measureRates } from "./support/measure-rates.ts";
import { measureRestart } from "./support/measure-restart.ts";
import { SHARE, withBench } from "./support/counting-bench.ts";
import { loadAverage } from "./support/processes.ts";
import { writeResult } from "./support/result.ts";

/**
 * The counting kinds at full speed, as ratios in one run: beacons of 34 bytes, keys Zipf(1.0), every counter hit at least once,
 * the service as a process of its own on the same machine as its broker, durable at 2 of 3, totals compared with what was
 * produced. Run: `npm run build && npx tsx bench/counting.ts [rate|growth|latency|restart]…`; everything without a name.
 * Prints its figures and keeps them in `bench/results/counting.json`.
 */

const MEASURES = {
  rate: measureRates,
  growth: measureGrowth,
  latency: measureLatency,
  restart: measureRestart,
} as const;

const MAIN = fileURLToPath(new URL("../dist/src/main.js", import.meta.url));

async function main(args: readonly string[]): Promise<void> {
  const [first, broker = "", topic = "", records = ""] = args;
  // The process that kafkajs is measured in: see `drainApart`.
  if (first === "drain") {
    console.log(JSON.stringify(await drainWithKafkajs(broker, topic, Number(records))));
    return;
  }
  if (!existsSync(MAIN)) throw new Error("dist/ is not there; npm run build");
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (args.length > 0 && !args.includes(name)) continue;
    const load = loadAverage();
    console.log(`${name}, load average ${load}:`);
    const figures = await withBench(measure);
    if (SHARE === 1) writeResult("counting", { [name]: { ...figures, loadAverage: load } });
  }
}

await main(process.argv.slice(2));
