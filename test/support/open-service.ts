import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { ServiceProcess } from "../../local/service/service-process.ts";
import { getJson, until } from "./http.ts";

/** What {@link openService} starts. */
export interface ServiceToOpen {
  /** The `broker` block of `streams.yaml`. */
  readonly broker: Readonly<Record<string, unknown>>;
  /** Of the source `articles`, beside its name, kind, namespace and descriptor. */
  readonly source: Readonly<Record<string, unknown>> & { readonly topic: string };
  /** Further sources of articles; each names itself, its group and its namespace. */
  readonly further?: readonly Readonly<Record<string, unknown>>[];
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Where its data and its configuration go; a folder of its own when absent. It is removed in both cases. */
  readonly folder?: string;
}

/** The service as a process with a source of articles; it is killed and its data are removed when the test is finished. */
export async function openService(wanted: ServiceToOpen): Promise<ServiceProcess> {
  const { broker, source, further = [], limits } = wanted;
  const folder = wanted.folder ?? (await mkdtemp(join(tmpdir(), "ysearch-service-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const articles = { name: "articles", namespace: "articles" };
  const common = { kind: "documents", descriptor: { subject: "ysearch.article" } };
  const service = await ServiceProcess.start({
    folder,
    config: {
      broker,
      limits: { boundsEvery: "500ms", ...limits },
      sources: [{ ...articles, ...source }, ...further].map((entry) => ({ ...common, ...entry })),
    },
  });
  onTestFinished(() => service.kill());
  return service;
}

/** What `GET /v1/sources/articles` says, as far as these tests look. */
export interface SourceBody {
  readonly observed: string;
  readonly reason?: string;
  readonly consumer: {
    readonly state: string;
    readonly rebuilds: number;
    readonly cause?: string;
    readonly text?: string;
  };
  readonly totals: { readonly delivered: number; readonly written: number; readonly deadLettered: number };
  readonly recentErrors: readonly { readonly code: string; readonly text: string }[];
}

export async function getSource(service: ServiceProcess): Promise<SourceBody> {
  return (await getJson(`${service.url}/v1/sources/articles`)).body as SourceBody;
}

/** Asks until the source is as `accept` wants it. @throws Error with the last answer after `deadlineMs` */
export async function untilSource(
  service: ServiceProcess,
  accept: (source: SourceBody) => boolean,
  deadlineMs = 30_000,
): Promise<SourceBody> {
  return until(() => getSource(service), accept, deadlineMs);
}

/** The service's log lines that are warnings or errors. */
export async function warnings(service: ServiceProcess): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const lines = (await service.lastLines(100_000)).split("\n").filter((line) => line.startsWith("{"));
  const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return entries.filter(({ level }) => level === "warn" || level === "error");
}
