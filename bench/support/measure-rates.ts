import type { CountingBench, Figures, FilledTopic } from "./counting-bench.ts";
import type { DrainFigures } from "./kafkajs-alone.ts";
import { median } from "./result.ts";
import { costOf, drainWithService, rateOf, type ServiceFigures } from "./service-drain.ts";

const RECORDS = 2_000_000;
const PARTITIONS = 8;
const VISITORS = 500_000;
const DEADLINE_MS = 120_000;
/** What is asked of the ratio to kafkajs alone, by the number of counters; and how often it is measured. */
const BARS = [
  { counters: 100_000, bar: 0.7, rounds: 2 },
  { counters: 1_000_000, bar: 0.6, rounds: 1 },
] as const;

/** Drains a topic with the service as often as with kafkajs alone, in turns, and compares all counters each time. */
export async function measureRates(bench: CountingBench): Promise<Figures> {
  const figures: Record<string, unknown> = {};
  for (const { counters, bar, rounds } of BARS) {
    const filled = await bench.fill(PARTITIONS, counters, RECORDS);
    const alone: DrainFigures[] = [];
    const ours: ServiceFigures[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await bench.drainApart(filled));
      ours.push(await drainOnce(bench, filled));
    }
    console.log(`  ${counters} counters, ${RECORDS} beacons, ${PARTITIONS} partitions`);
    figures[`counters${counters}`] = compare(alone, ours, bar);
  }
  const filled = await bench.fill(PARTITIONS, BARS[0].counters, RECORDS / 2, VISITORS);
  const visitors = await drainOnce(bench, filled);
  print("service, visitors too", [visitors]);
  return { ...figures, withVisitors: row([visitors]) };
}

/** One drain of a topic from its start by a new service; the counters are exact. */
export async function drainOnce(bench: CountingBench, filled: FilledTopic): Promise<ServiceFigures> {
  return await bench.withService(filled, async (service, folder) => {
    const figures = await drainWithService(service, "traffic", filled.plan.records, DEADLINE_MS);
    await service.stop();
    await bench.check(folder, filled);
    return figures;
  });
}

function compare(alone: readonly DrainFigures[], ours: readonly ServiceFigures[], bar: number): Figures {
  print("kafkajs alone", alone);
  print("service", ours);
  const rate = median(ours.map(rateOf)) / median(alone.map(rateOf));
  const cost = median(ours.map(costOf)) / median(alone.map(costOf));
  console.log(`    rate ${rate.toFixed(2)} of kafkajs alone (bar ${bar}), processor ${cost.toFixed(2)} times (bar 2)`);
  return { alone: row(alone), ours: row(ours), rateRatio: rate, costRatio: cost };
}

/** Prints a row of the table. */
export function print(name: string, figures: readonly (DrainFigures | ServiceFigures)[]): void {
  const { thousandPerSecond, cpuSecondsPerMillion, mainRssMiB, ownerRssMiB } = row(figures);
  const memory = mainRssMiB === 0 ? "" : `, RssAnon ${mainRssMiB} MiB, owner ${ownerRssMiB} MiB`;
  console.log(`    ${name.padEnd(22)} ${thousandPerSecond} k/s, ${cpuSecondsPerMillion} s CPU per million${memory}`);
}

/** The medians of several drains, and the most memory. */
export function row(figures: readonly (DrainFigures | ServiceFigures)[]) {
  const most = (memoryOf: (one: ServiceFigures) => number): number =>
    Math.round(Math.max(...figures.map((one) => ("mainRssMiB" in one ? memoryOf(one) : 0))));
  return {
    thousandPerSecond: Number(median(figures.map(rateOf)).toFixed(1)),
    cpuSecondsPerMillion: Number(median(figures.map(costOf)).toFixed(2)),
    mainRssMiB: most((one) => one.mainRssMiB),
    ownerRssMiB: most((one) => one.ownerRssMiB),
  };
}
