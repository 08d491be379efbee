import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { createTopic } from "../../local/broker/topics.ts";
import { ArticleFeed } from "../../local/feed/plan.ts";
import { ServiceProcess } from "../../local/service/service-process.ts";
import { differingArticles, untilCaughtUp } from "../../local/service/verify.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { getJson, getPartitions, until } from "../support/http.ts";
import { openScenario, type Scenario } from "../support/scenario.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const run = promisify(execFile);
let scenario: Scenario | undefined;

afterEach(async () => {
  await scenario?.close();
  scenario = undefined;
});

async function source(url: string): Promise<Record<string, unknown>> {
  return (await getJson(`${url}/v1/sources/articles`)).body as Record<string, unknown>;
}

describe("definitions in force", () => {
  it("a changed file is drift until it is applied; then the source goes on under a new revision, without a restart", async () => {
    scenario = await openScenario({ brokers: useBroker(), partitions: 2 });
    const { producer, service, folder } = scenario;
    const feed = new ArticleFeed(20);
    await producer.send(feed.next(60, Date.now()));
    await untilCaughtUp(service.url, "articles", 30_000);
    expect(await source(service.url)).toMatchObject({ revision: 1, drift: false });

    const file = join(folder, "streams.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("namespace: articles", "namespace: articles\n    onPoison: stop"));
    expect(await source(service.url)).toMatchObject({ revision: 1, drift: true });

    const applied = await run(process.execPath, [MAIN, "apply", "--url", service.url, "--config", file]);
    expect(applied.stdout).toMatch(/articles/);
    expect(await source(service.url)).toMatchObject({ revision: 2, drift: false });

    await producer.send([...feed.next(60, Date.now()), feed.poison(Date.now())]);
    const partitions = await until(
      () => getPartitions(service.url),
      (all) => all.some((partition) => partition.observed === "stopped"),
    );
    expect(partitions.filter(({ stop }) => stop?.code === "POISON")).toHaveLength(1);
    await until(
      () => differingArticles(service.url, "articles", feed.expected),
      (differing) => differing.length === 0,
    );
    const revisions = new Set<number>();
    for (const [id, article] of feed.expected) {
      if (article === undefined) continue;
      const { body } = await getJson(`${service.url}/v1/documents/articles/${id}`);
      revisions.add((body as { provenance: { revision: number } }).provenance.revision);
    }
    expect(revisions).toContain(2);
  });

  it("a source that is new in the file is added by 'apply', without a restart, and stands after one", async () => {
    scenario = await openScenario({ brokers: useBroker(), partitions: 2 });
    const { service, folder, topic } = scenario;
    const file = join(folder, "streams.yaml");
    await appendFile(file, `  - { name: again, kind: documents, topic: ${topic} }\n`);
    await scenario.producer.send(new ArticleFeed(20).next(60, Date.now()));
    const applied = await run(process.execPath, [MAIN, "apply", "--url", service.url, "--config", file]);
    expect(applied.stdout).toBe(
      `articles: unchanged\nagain: added: documents from ${topic} as ysearch-streams.again\n`,
    );
    await untilCaughtUp(service.url, "again", 30_000);
    expect((await service.get("/v1/documents/again/article-0")).status).toBe(200);
    const inForce = await getJson(`${service.url}/v1/sources/again/definition`);
    expect(await service.stop()).toBe(0);
    await service.restart();
    expect(await getJson(`${service.url}/v1/sources/again/definition`)).toEqual(inForce);
  });

  it("a source whose topic is missing names it and says what to do, and runs once it is there", async () => {
    const topic = uniqueTopic("missing");
    const folder = await mkdtemp(join(tmpdir(), "ysearch-scenario-"));
    const config = {
      broker: { brokers: [...useBroker()] },
      sources: [{ name: "articles", kind: "documents", topic, group: `g.${topic}` }],
    };
    const service = await ServiceProcess.start({ folder, config });
    try {
      const text = `the broker has no topic ${topic}: create it, or correct the source's topic`;
      // Between two attempts the reason is the attempt, and says how the one before ended.
      const state = await until(
        () => source(service.url),
        (body) => body["reason"] === text,
      );
      expect(state["recentErrors"]).toMatchObject([{ code: "BROKER_TOPIC_MISSING", text }]);
      await createTopic(useBroker(), { topic, partitions: 1 });
      await until(
        () => source(service.url),
        (body) => body["observed"] === "running",
      );
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("a start without a broker serves the API and says what the source meets", async () => {
    const folder = await mkdtemp(join(tmpdir(), "ysearch-scenario-"));
    const service = await ServiceProcess.start({
      folder,
      config: {
        broker: { brokers: ["127.0.0.1:9"] },
        sources: [{ name: "articles", kind: "documents", topic: "articles" }],
      },
    });
    try {
      expect((await service.get("/readyz")).status).toBe(200);
      const state = await until(
        () => source(service.url),
        (body) => Array.isArray(body["recentErrors"]) && body["recentErrors"].length > 0,
      );
      expect(state["observed"]).not.toBe("running");
      expect((await service.get("/v1/lag")).status).toBe(200);
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
