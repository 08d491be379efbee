import { describe, expect, it } from "vitest";

import { createTopic } from "../../local/broker/topics.ts";
import { contractMessage, seconds } from "../../local/feed/contract.ts";
import { untilCaughtUp } from "../../local/service/verify.ts";
import { CONTRACT_FILES } from "../../src/descriptors/builtin.generated.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { type ExactRecord, sendExactly } from "../support/exact-producer.ts";
import { until } from "../support/http.ts";
import { openService } from "../support/open-service.ts";
import { OperatorClient } from "../support/operator-client.ts";

const brokers = useBroker();
const Article = contractMessage("article.proto", "Article");
const Beacon = contractMessage("beacon.proto", "Beacon");
const NUMBERS = Array.from({ length: 12 }, (_, number) => number);
const NOW = Date.now();

/** The mistake: a field is given up that producers send, and readers need. */
const FILE = "ysearch/streams/v1/article.proto";
const MISTAKEN = (CONTRACT_FILES[FILE] ?? "").replace("string title = 3;", "reserved 3;");
/** And a mapping to the address, which is the id of every second article only. */
const MISTAKEN_MAPPING = { id: [2] };
const WITHOUT_COUNTS = { article: [1], metric: [2], occurred_at: [3], visitor: [4] };

const idOf = (number: number): string => `article-${number}`;

function article(number: number, revision: number): ExactRecord {
  const id = idOf(number);
  const url = number % 2 === 0 ? id : `https://example.org/${id}`;
  const said = { id, url, title: `title ${revision}`, body: `body ${revision}` };
  return { key: id, value: Article.encode(said).finish() };
}

function beacon(number: number, count: number): ExactRecord {
  const said = { articleId: idOf(number), metric: "view", occurredAt: seconds(NOW), visitorHash: number, count };
  return { key: idOf(number), value: Beacon.encode(said).finish() };
}

/** What an operator does, and what is looked at. */
class Repair {
  readonly #client: OperatorClient;
  readonly #topics: { readonly articles: string; readonly beacons: string };
  readonly #url: string;
  #round = 0;

  constructor(url: string, topics: { readonly articles: string; readonly beacons: string }) {
    this.#client = new OperatorClient(url);
    this.#url = url;
    this.#topics = topics;
  }

  /** A further revision of every article, or of each `every`th, and beacons about it; waits until all sources have them. */
  async feed(every = 1): Promise<void> {
    this.#round += 1;
    for (const partition of [0, 1]) {
      const numbers = NUMBERS.filter((number) => number % every === 0 && number % 4 < 2 === (partition === 0));
      const articles = numbers.map((number) => article(number, this.#round));
      await sendExactly(brokers, this.#topics.articles, articles, partition);
      await sendExactly(
        brokers,
        this.#topics.beacons,
        numbers.map((number) => beacon(number, 2 + number)),
        partition,
      );
    }
    for (const source of ["articles", "clean", "beacons", "clean-beacons"])
      await untilCaughtUp(this.#url, source, 30_000);
  }

  async get(path: string): Promise<Readonly<Record<string, unknown>>> {
    const { status, body } = await this.#client.call("GET", path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async activate(source: string, version: number, mapping: object): Promise<void> {
    const { etag } = await this.#client.call("GET", `/v1/sources/${source}/definition`);
    const path = `/v1/sources/${source}/descriptor`;
    const { status, body } = await this.#client.call("PUT", path, { version, mapping, reason: "a story" }, etag);
    expect(status, JSON.stringify(body)).toBe(200);
  }

  async register(subject: string, files: object): Promise<number> {
    const { status, body } = await this.#client.call("POST", `/v1/descriptors/${subject}/versions`, { files });
    expect(status, JSON.stringify(body)).toBe(201);
    return Number(body["version"]);
  }

  /** Submits a job and waits for its end. */
  async job(path: string, body: object, kind = path): Promise<Readonly<Record<string, unknown>>> {
    const submitted = await this.#client.call("POST", path, { reason: "a story", ...body });
    expect(submitted.status, JSON.stringify(submitted.body)).toBe(202);
    const ended = await until(
      () => this.get(`${kind}/${String(submitted.body["id"])}?wait=20`),
      ({ state }) => state !== "queued" && state !== "running",
      40_000,
    );
    expect(ended, JSON.stringify(ended)).toMatchObject({ state: "done" });
    return ended;
  }

  async letterStates(): Promise<readonly string[]> {
    const { letters } = await this.get("/v1/sources/articles/dead-letters");
    return (letters as readonly { readonly state: string }[]).map(({ state }) => state);
  }

  /** What the namespaces `articles` or `clean` hold: body and coordinates of each article. */
  async documents(namespace: string): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for (const number of NUMBERS) {
      const { status, body } = await this.#client.call("GET", `/v1/documents/${namespace}/${idOf(number)}`);
      const { partition, offset, topicEpoch } = (body["provenance"] ?? {}) as Readonly<Record<string, unknown>>;
      found.push({ status, body: body["body"], partition, offset, topicEpoch });
    }
    return found;
  }

  /** Counts and visitors of each article. */
  async counts(source: string): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for (const number of NUMBERS) {
      const { traffic } = await this.get(`/v1/traffic/${idOf(number)}?namespace=${source}`);
      found.push(traffic);
    }
    return found;
  }
}

describe("a wrong mapping", () => {
  it("is found, rolled back, and what it wrote, counted and refused comes to what a clean run has", async () => {
    const topics = { articles: uniqueTopic("repair"), beacons: uniqueTopic("repair-beacons") };
    await createTopic(brokers, { topic: topics.articles, partitions: 2 });
    await createTopic(brokers, { topic: topics.beacons, partitions: 2 });
    const beacons = { kind: "traffic", topic: topics.beacons, descriptor: { subject: "ysearch.beacon" } };
    const service = await openService({
      broker: { brokers: [...brokers] },
      source: { topic: topics.articles, group: `${topics.articles}-a` },
      further: [
        { name: "clean", namespace: "clean", topic: topics.articles, group: `${topics.articles}-b` },
        { name: "beacons", namespace: "beacons", group: `${topics.beacons}-a`, ...beacons },
        { name: "clean-beacons", namespace: "clean-beacons", group: `${topics.beacons}-b`, ...beacons },
      ],
    });
    const repair = new Repair(service.url, topics);
    await repair.feed();

    // The mistake: live reading and a job write under it, and refuse what they cannot read.
    expect(await repair.register("ysearch.article", { [FILE]: MISTAKEN })).toBe(2);
    await repair.activate("articles", 2, MISTAKEN_MAPPING);
    await repair.activate("beacons", 1, WITHOUT_COUNTS);
    await repair.feed();
    const wrong = await repair.job("/v1/replays", { source: "articles", ranges: [{ partition: 0, to: "6" }] });
    expect(wrong).toMatchObject({ receipt: { read: 6, deadLettered: 3, superseded: 3 } });
    expect(await repair.documents("articles")).not.toEqual(await repair.documents("clean"));

    // It is found: producers send what the version does not have, and the version before decodes all.
    const { revisions } = await repair.get("/v1/sources/articles/unknown-fields");
    expect(revisions).toContainEqual(
      expect.objectContaining({ descriptorVersion: 2, fields: [{ path: "3", count: expect.any(Number) }] }),
    );
    const candidate = { candidate: { subject: "ysearch.article", version: 1 }, mapping: { id: [1] } };
    const trial = await repair.job("/v1/sources/articles/trials", candidate, "/v1/trials");
    expect(trial["result"]).toMatchObject({
      records: 24,
      inForce: { failed: 12 },
      candidate: { failed: 0, unknownFields: [] },
      fields: { gained: [{ path: "3" }], lost: [] },
      deadLetters: { records: 9, candidate: { failed: 0 } },
    });

    // Going back is a new revision.
    await repair.activate("articles", 1, { id: [1] });
    await repair.activate("beacons", 1, { ...WITHOUT_COUNTS, count: [5] });
    await repair.feed(3);
    const { rows } = await repair.get("/v1/sources/articles/ledger");
    expect(rows).toContainEqual(
      expect.objectContaining({ revision: 2, descriptor: expect.objectContaining({ version: 2 }) }),
    );

    expect(await repair.documents("articles")).not.toEqual(await repair.documents("clean"));
    expect(await repair.counts("beacons")).not.toEqual(await repair.counts("clean-beacons"));
    const replay = await repair.job("/v1/replays", { source: "articles", decodedBy: 2 });
    expect(replay["receipt"]).toMatchObject({ deadLettered: 0, failed: 0 });
    await repair.job("/v1/redrives", { source: "articles" });
    await repair.job("/v1/recounts", { source: "beacons", closeOpen: true });
    expect(await repair.letterStates()).not.toContain("open");
    expect(await repair.documents("articles")).toEqual(await repair.documents("clean"));
    expect(await repair.counts("beacons")).toEqual(await repair.counts("clean-beacons"));
  }, 90_000);
});
