import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";

/** A GET, parsed. */
export async function getJson(url: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await request(url);
  return { status: response.statusCode, body: await response.body.json() };
}

/** Asks again until `accept` says yes. @throws Error with the last answer after `deadlineMs` */
export async function until<T>(ask: () => Promise<T>, accept: (answer: T) => boolean, deadlineMs = 30_000): Promise<T> {
  const deadline = Date.now() + deadlineMs;
  let last: T | undefined;
  while (Date.now() < deadline) {
    last = await ask();
    if (accept(last)) return last;
    await delay(50);
  }
  throw new Error(`not reached within ${deadlineMs} ms; last answer: ${JSON.stringify(last)?.slice(0, 2_000)}`);
}

export interface PartitionBody {
  readonly partition: number;
  readonly observed: string;
  readonly committed?: string;
  readonly watermark?: string;
  readonly hold?: { readonly code: string; readonly text: string; readonly attempts: number };
  readonly stop?: { readonly code: string; readonly wanted?: string; readonly lost?: { from: string; to: string } };
}

export async function getPartitions(url: string, source = "articles"): Promise<readonly PartitionBody[]> {
  const { body } = await getJson(`${url}/v1/sources/${source}/partitions`);
  return (body as { readonly partitions: readonly PartitionBody[] }).partitions;
}
