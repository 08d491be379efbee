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
}

const TURN_MS = 100;

/** Records that a source has applied since its process began. @throws Error unless the service answers for it */
export async function appliedRecords(service: ServiceProcess, source: string): Promise<number> {
  const { status, body } = await service.get(`/v1/sources/${source}`);
  const { totals } = body as { readonly totals?: { readonly delivered: number } };
  if (status !== 200 || totals === undefined) throw new Error(`source ${source} answered ${status}`);
  return totals.delivered;
}

/**
 * Waits until the service, just started, has applied `records`, and measures from the first answer that shows any: the rate
 * is over what was applied after it. The processor time is that of the service with its owners.
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
  let first: { readonly applied: number; readonly at: number; readonly cpu: number } | undefined;
  let mainRssMiB = 0;
  let ownerRssMiB = 0;
  for (;;) {
    const applied = await appliedRecords(service, source);
    const at = performance.now();
    const [main = pid, ...owners] = familyOf(pid);
    mainRssMiB = Math.max(mainRssMiB, rssAnonMiB(main));
    ownerRssMiB = Math.max(ownerRssMiB, ...owners.map(rssAnonMiB));
    const cpu = cpuSeconds([main, ...owners]);
    if (applied > 0) first ??= { applied, at, cpu };
    if (first !== undefined && applied >= records) {
      const seconds = (at - first.at) / 1_000;
      return { records: applied - first.applied, seconds, cpuSeconds: cpu - first.cpu, mainRssMiB, ownerRssMiB };
    }
    if (at > deadline) throw new Error(`${source}: ${applied} of ${records} records after ${deadlineMs} ms`);
    await delay(TURN_MS);
  }
}

/** Thousand records a second. */
export function rateOf({ records, seconds }: DrainFigures): number {
  return records / seconds / 1_000;
}

/** Processor seconds per million records. */
export function costOf({ records, cpuSeconds: cpu }: DrainFigures): number {
  return (cpu / records) * 1e6;
}
