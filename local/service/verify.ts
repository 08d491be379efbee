import { isDeepStrictEqual } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { type FeedArticle, expectedBody } from "../feed/articles.ts";
import type { Expectation } from "../feed/plan.ts";

interface LagBody {
  readonly partitions: readonly {
    readonly partition: number;
    readonly records: { readonly known: boolean; readonly value?: number; readonly cause?: string };
  }[];
}

/** Lag of a source over HTTP: the sum, or why it is not known. */
export async function readLag(url: string, source: string): Promise<number | string> {
  const response = await request(`${url}/v1/sources/${source}/lag`);
  const body = (await response.body.json()) as LagBody;
  if (response.statusCode !== 200) return `status ${response.statusCode}`;
  if (body.partitions.length === 0) return "no partition was measured yet";
  let sum = 0;
  for (const { partition, records } of body.partitions) {
    if (!records.known) return `partition ${partition}: ${records.cause ?? "unknown"}`;
    sum += records.value ?? 0;
  }
  return sum;
}

/**
 * Waits until everything produced before this call is applied: lag 0 in readings that began after it.
 * @throws Error after `deadlineMs` with the last answer
 */
export async function untilCaughtUp(url: string, source: string, deadlineMs: number): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  const from = Date.now();
  let last: number | string = "no answer";
  while (Date.now() < deadline) {
    last = await readLag(url, source).catch((error: unknown) => String(error));
    if (last === 0 && (await measuredAt(url, source)) > from) return;
    await delay(100);
  }
  throw new Error(`source ${source} has not caught up: lag ${last}`);
}

async function measuredAt(url: string, source: string): Promise<number> {
  const response = await request(`${url}/v1/sources/${source}/lag`);
  const body = (await response.body.json()) as { readonly partitions: readonly { readonly measuredAt: string }[] };
  return Math.min(...body.partitions.map((partition) => Date.parse(partition.measuredAt)));
}

/** Requests under way at the same time while comparing. */
const COMPARING = 16;

/** Compares every expected article with what the service answers. Returns what differs, one line each. */
export async function differingArticles(url: string, namespace: string, expected: Expectation): Promise<string[]> {
  const left = expected.entries();
  const differing: string[] = [];
  const worker = async () => {
    for (const [id, article] of left) {
      const difference = await differenceOf(`${url}/v1/documents/${namespace}/${encodeURIComponent(id)}`, article);
      if (difference !== undefined) differing.push(`${id}: ${difference}`);
    }
  };
  await Promise.all(Array.from({ length: COMPARING }, worker));
  return differing.toSorted();
}

async function differenceOf(url: string, article: FeedArticle | undefined): Promise<string | undefined> {
  const { statusCode, body: stream } = await request(url);
  const body = (await stream.json()) as { readonly code?: string; readonly body?: { readonly value: unknown } };
  if (article === undefined) {
    return body.code === "DOCUMENT_DELETED" ? undefined : `was deleted, but answered ${statusCode}`;
  }
  if (statusCode !== 200) return `expected ${article.title}, answered ${statusCode} ${body.code ?? ""}`;
  return isDeepStrictEqual(body.body?.value, expectedBody(article))
    ? undefined
    : `expected ${article.title}, answered something else`;
}
