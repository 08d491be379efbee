import { describe, expect, it } from "vitest";

import { createTopic } from "../../local/broker/topics.ts";
import { encodedBy } from "../../local/feed/contract.ts";
import { untilCaughtUp } from "../../local/service/verify.ts";
import { CONTRACT_FILES } from "../../src/descriptors/builtin.generated.ts";
import { uniqueTopic, useBroker } from "../support/broker.ts";
import { sendExactly } from "../support/exact-producer.ts";
import { getSource, openService } from "../support/open-service.ts";
import { type Answer, OperatorClient } from "../support/operator-client.ts";

const brokers = useBroker();
const FILE = "ysearch/streams/v1/article.proto";
const FIRST = CONTRACT_FILES[FILE] ?? "";

/** What producers send one after the other; each step keeps what the steps before did. */
const ADDED = FIRST.replace("string title = 3;", "string title = 3;\n  string mood = 40;");
const RENAMED = ADDED.replace("  string mood = 40;\n", "")
  .replace("string title = 3;", "string headline = 3;")
  .replace("string id = 1;", "string mood = 40;\n  string id = 1;")
  .replace("string summary = 11;", "string summary = 11 [deprecated = true];");
const MOVED = RENAMED.replace("package ysearch.streams.v1;", "package ysearch.streams.v2;");
/** The article's id is a number now, in the place of the text. */
const REUSED = RENAMED.replace("string id = 1;", "int64 id = 1;");

/** The message that a text declares. */
function messageOf(text: string): string {
  return `${/^package (.*);$/m.exec(text)?.[1] ?? ""}.Article`;
}

/** A source of articles, its producers and its operator. */
class Evolution {
  readonly client: OperatorClient;
  readonly #url: string;
  readonly #topic: string;

  constructor(url: string, topic: string) {
    this.client = new OperatorClient(url);
    this.#url = url;
    this.#topic = topic;
  }

  /** Produces a record and returns the document that stands under its key, once it is applied. */
  async send(text: string, key: string, said: Readonly<Record<string, unknown>>): Promise<unknown> {
    await sendExactly(brokers, this.#topic, [{ key, value: encodedBy(text, messageOf(text), said) }]);
    await untilCaughtUp(this.#url, "articles", 30_000);
    const { body } = await this.client.call("GET", `/v1/documents/articles/${key}`);
    return ((body["body"] ?? {}) as { readonly value?: unknown }).value;
  }

  register(text: string): Promise<Answer> {
    const message = messageOf(text);
    const file = `${message.replace(/\.Article$/, "").replaceAll(".", "/")}/article.proto`;
    return this.client.call("POST", "/v1/descriptors/ysearch.article/versions", { files: { [file]: text }, message });
  }

  async activate(version: number, message: string): Promise<void> {
    const { etag } = await this.client.call("GET", "/v1/sources/articles/definition");
    const put = await this.client.call("PUT", "/v1/sources/articles/descriptor", { version, message }, etag);
    expect(put.status, JSON.stringify(put.body)).toBe(200);
  }
}

describe("producers that change", () => {
  it("add, rename, reorder, deprecate and move, and nothing breaks or restarts; a number in another sense is dead-lettered", async () => {
    const topic = uniqueTopic("evolution");
    await createTopic(brokers, { topic, partitions: 1 });
    const service = await openService({
      broker: { brokers: [...brokers] },
      source: { topic, group: `${topic}-group` },
    });
    const story = new Evolution(service.url, topic);
    const { client } = story;
    const said = { id: "a", title: "t", headline: "t", mood: "m", summary: "s" };

    expect(await story.send(FIRST, "a", said)).toEqual({ id: "a", title: "t", summary: "s" });
    // Producers are ahead of the registry: what they added is passed over, and counted.
    expect(await story.send(ADDED, "a", said)).toEqual({ id: "a", title: "t", summary: "s" });
    const { body: unknown } = await client.call("GET", "/v1/sources/articles/unknown-fields");
    expect(unknown["revisions"]).toEqual([{ revision: 1, descriptorVersion: 1, fields: [{ path: "40", count: 1 }] }]);

    const steps = [
      [ADDED, "ysearch.streams.v1.Article", { id: "a", title: "t", mood: "m", summary: "s" }],
      [RENAMED, "ysearch.streams.v1.Article", { id: "a", headline: "t", mood: "m", summary: "s" }],
      [MOVED, "ysearch.streams.v2.Article", { id: "a", headline: "t", mood: "m", summary: "s" }],
    ] as const;
    for (const [index, [text, message, body]] of steps.entries()) {
      const registered = await story.register(text);
      expect(registered, JSON.stringify(registered.body)).toMatchObject({ status: 201, body: { version: index + 2 } });
      await story.activate(index + 2, message);
      expect(await story.send(text, "a", said)).toEqual(body);
      expect(await story.send(FIRST, "old", { ...said, id: "old" }), "a producer of yesterday").toMatchObject({
        id: "old",
      });
    }
    // Going back is the same call.
    await story.activate(1, "ysearch.streams.v1.Article");
    expect(await story.send(MOVED, "a", said)).toEqual({ id: "a", title: "t", summary: "s" });

    const refused = await story.register(REUSED);
    expect(refused).toMatchObject({ status: 409, body: { code: "DESCRIPTOR_INCOMPATIBLE" } });
    expect(refused.body["differences"]).toContainEqual(expect.objectContaining({ number: 1, breaks: true }));
    expect(await story.send(REUSED, "7", { ...said, id: 7 })).toBeUndefined();
    const { body: dead } = await client.call("GET", "/v1/sources/articles/dead-letters");
    expect(dead["letters"]).toMatchObject([
      { offset: "9", code: "DECODE_WIRE_TYPE", text: expect.stringContaining("(field 1, byte ") },
    ]);

    const { body: ledger } = await client.call("GET", "/v1/sources/articles/ledger");
    const rows = ledger["rows"] as readonly {
      readonly from: string;
      readonly descriptor: { readonly version: number };
    }[];
    expect(rows.map(({ from, descriptor }) => [from, descriptor.version])).toEqual([
      ["0", 1],
      ["2", 2],
      ["4", 3],
      ["6", 4],
      ["8", 1],
    ]);
    expect(await getSource(service)).toMatchObject({ observed: "running", consumer: { rebuilds: 0 } });
  }, 60_000);
});
