import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { ServiceProcess } from "../../local/service/service-process.ts";
import type { DrainFigures } from "./kafkajs-alone.ts";
import { cpuSeconds, familyOf, rssAnonMiB } from "./processes.ts";

/** What reading a topic took, and what the service held in memory. */
export interface ServiceFigures extends DrainFigures {
  /** Most anonymous memory of the service's own process, and of the largest owner. */
  readonly mainRssMiB: number;
  readonly ownerRssMiB: number;
  /** Of {@link DrainFigures.cpuSeconds}, what the owners took. */
  readonly ownersCpuSeconds: number;
}

const TURN_MS = 100;
const STARTING_TURN_MS = 30;

/** Records that a source has applied since its process began. @throws Error unless the service answers for it */
export async function appliedRecords(service: ServiceProcess, source: string): Promise<number> {
  const { status, body } = await service.get(`/v1/sources/${source}`);
  const { totals } = body as { readonly totals?: { readonly delivered: number } };
  if (status !== 200 || totals === undefined) throw new Error(`source ${source} answered ${status}`);
  return totals.delivered;
}

/** Whether anything of a source has reached its partitions' runners. */
async function hasFetched(service: ServiceProcess, source: string): Promise<boolean> {
  const { body } = await service.get(`/v1/sources/${source}/partitions`);
  const { partitions } = body as { readonly partitions: readonly { readonly position?: string }[] };
  return partitions.some(({ position = "0" }) => Number(position) > 0);
}

/**
 * Waits until the service, just started, has applied `records`, all that there are, and measures from the last moment at
 * which nothing was fetched. The processor time is that of the service with its owners.
 * @throws Error after `deadlineMs`, with what was applied
 */
export async function drainWithService(
  service: ServiceProcess,
  source: string,
  records: number,
  deadlineMs: number,
): Promise<ServiceFigures> {
  const { pid } = service;
  if (pid === undefined) throw new Error("the service does not run");
  const deadline = performance.now() + deadlineMs;
  let started = false;
  let start = sample(pid);
  let [mainRssMiB, ownerRssMiB] = [0, 0];
  for (;;) {
    started ||= await hasFetched(service, source);
    const applied = started ? await appliedRecords(service, source) : 0;
    const now = sample(pid);
    if (!started) start = now;
    mainRssMiB = Math.max(mainRssMiB, now.mainRssMiB);
    ownerRssMiB = Math.max(ownerRssMiB, now.ownerRssMiB);
    if (applied >= records) {
      const ownersCpuSeconds = now.ownersCpu - start.ownersCpu;
      const used = now.mainCpu - start.mainCpu + ownersCpuSeconds;
      const seconds = (now.at - start.at) / 1_000;
      return { records, seconds, cpuSeconds: used, ownersCpuSeconds, mainRssMiB, ownerRssMiB };
    }
    if (now.at > deadline) throw new Error(`${source}: ${applied} of ${records} records after ${deadlineMs} ms`);
    await delay(started ? TURN_MS : STARTING_TURN_MS);
  }
}

function sample(pid: number) {
  const [main = pid, ...owners] = familyOf(pid);
  return {
    at: performance.now(),
    mainCpu: cpuSeconds([main]),
    ownersCpu: cpuSeconds(owners),
    mainRssMiB: rssAnonMiB(main),
    ownerRssMiB: Math.max(0, ...owners.map(rssAnonMiB)),
  };
}

/** Thousand records a second. */
export function rateOf({ records, seconds }: DrainFigures): number {
  return records / seconds / 1_000;
}

/** Processor seconds per million records. */
export function costOf({ records, cpuSeconds: cpu }: DrainFigures): number {
  return (cpu / records) * 1e6;
}
