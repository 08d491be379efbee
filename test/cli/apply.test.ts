import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cli } from "./support.ts";

const IN_FORCE = {
  name: "articles",
  kind: "documents",
  topic: "articles",
  group: "ysearch-streams.articles",
  namespace: "articles",
  format: "protobuf",
  framing: "none",
  descriptor: { subject: "ysearch.article", version: 4, message: "ysearch.streams.v1.Article" },
  mapping: { id: [1] },
  body: "json",
  startFrom: "earliest",
  worstLagMs: 86_400_000,
  onPoison: "dead-letter",
  deadLetterTopic: "articles.dlq",
  createDeadLetterTopic: true,
};

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

let server: Server;
let base: string;
let seen: Seen[];
let put: { status: number; body: unknown };
let get: { status: number; body: string; etag: string | undefined };

beforeEach(async () => {
  seen = [];
  put = { status: 200, body: { definition: IN_FORCE, revision: 2 } };
  get = { status: 200, body: JSON.stringify({ definition: IN_FORCE, revision: 1 }), etag: '"e1"' };
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      seen.push({
        method,
        url,
        ifMatch: headers["if-match"],
        ifNoneMatch: headers["if-none-match"],
        authorization: headers.authorization,
        body,
      });
      response.setHeader("content-type", "application/json");
      if (method === "GET" && get.etag !== undefined) response.setHeader("etag", get.etag);
      response.statusCode = method === "GET" ? get.status : put.status;
      response.end(method === "GET" ? get.body : JSON.stringify(put.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const run = (source: string, ...flags: string[]) =>
  cli(["apply", "--url", base, ...flags], {
    files: {
      "/srv/app/streams.yaml": `sources: [{ name: articles, kind: documents, topic: articles, ${source} }]`,
      token: "0123456789abcdefghijklmnop\n",
    },
  });

test("a source that is in force as the file says is left alone", async () => {
  expect(await run("")).toMatchObject({ code: 0, out: "articles: unchanged\n", err: "" });
  expect(seen.map(({ method, url }) => [method, url])).toEqual([["GET", "/v1/sources/articles/definition"]]);
});

test("a difference is put with If-Match, whole, as the API spells it", async () => {
  const { code, out } = await run("worstLag: 48h, startFrom: 2026-01-31T00:00:00Z");
  expect({ code, out }).toEqual({
    code: 0,
    out: 'articles: changed startFrom "earliest" → {"timestamp":"2026-01-31T00:00:00.000Z"}, worstLagMs 86400000 → 172800000\n',
  });
  expect(seen[1]).toMatchObject({
    method: "PUT",
    ifMatch: '"e1"',
    body: { ...IN_FORCE, worstLagMs: 172_800_000, startFrom: { timestamp: "2026-01-31T00:00:00.000Z" } },
  });
});

test("--dry-run tells the difference and puts nothing", async () => {
  const { code, out } = await run("onPoison: stop", "--dry-run");
  expect({ code, out }).toEqual({ code: 0, out: 'articles: would change onPoison "dead-letter" → "stop"\n' });
  expect(seen).toHaveLength(1);
});

test("what the file leaves open stays as it is, what it names is put", async () => {
  await run("descriptor: { subject: ysearch.article, version: 5 }");
  expect(seen[1]?.body).toMatchObject({ descriptor: { ...IN_FORCE.descriptor, version: 5 }, mapping: { id: [1] } });
});

test("another subject must be named whole: what is in force tells nothing about it", async () => {
  const { code, err } = await run("descriptor: { subject: acme.article }");
  expect({ code, err }).toEqual({
    code: 1,
    err: "articles: name descriptor.version, descriptor.message, mapping in the file: what is in force is of another kind or subject\n",
  });
  expect(seen).toHaveLength(1);
});

test("a source that the service does not have is added, and what the file leaves open is left to the service", async () => {
  get = { ...get, status: 404, body: '{"code":"SOURCE_UNKNOWN"}' };
  put = { status: 201, body: {} };
  const { code, out } = await run("startFrom: 2026-01-31T00:00:00Z");
  expect({ code, out }).toEqual({
    code: 0,
    out: "articles: added: documents from articles as ysearch-streams.articles\n",
  });
  expect(seen[1]).toMatchObject({ method: "PUT", url: "/v1/sources/articles/definition", ifNoneMatch: "*" });
  expect(seen[1]?.ifMatch).toBeUndefined();
  const { descriptor: _descriptor, mapping: _mapping, ...rest } = IN_FORCE;
  expect(seen[1]?.body).toEqual({
    ...rest,
    descriptor: { subject: "ysearch.article" },
    startFrom: { timestamp: "2026-01-31T00:00:00.000Z" },
  });
});

test("--dry-run adds nothing", async () => {
  get = { ...get, status: 404, body: '{"code":"SOURCE_UNKNOWN"}' };
  const { code, out } = await run("", "--dry-run");
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^articles: would be added: /) as unknown });
  expect(seen).toHaveLength(1);
});

test("the token goes into the Authorization header and nowhere else", async () => {
  const { out, err } = await run("onPoison: stop", "--token-file", "token");
  expect(seen.map(({ authorization }) => authorization)).toEqual(Array(2).fill("Bearer 0123456789abcdefghijklmnop"));
  expect(out + err).not.toContain("0123456789");
});

test("a refused change tells code, detail and remedy", async () => {
  put = { status: 412, body: { code: "PRECONDITION_FAILED", detail: "it changed", remedy: "Read it again." } };
  const { code, err } = await run("onPoison: stop");
  expect({ code, err }).toEqual({
    code: 1,
    err: "articles: PUT was answered 412: PRECONDITION_FAILED; it changed; Read it again.\n",
  });
});

test.each<[string, Partial<typeof get>, RegExp]>([
  ["no service of ours", { status: 404, body: '{"code":"ROUTE_UNKNOWN"}' }, /GET was answered 404: ROUTE_UNKNOWN/],
  ["an answer that is not JSON", { body: "<html>" }, /GET was answered 200/],
  ["an answer without an ETag", { etag: undefined }, /GET was answered 200/],
  ["a redirect", { status: 302, body: "" }, /GET was answered 302/],
  ["an endless answer", { body: JSON.stringify("x".repeat(2 * 1024 * 1024)) }, /GET http:\S+ failed \(RangeError\)/],
])("%s changes nothing", async (_what, answer, text) => {
  get = { ...get, ...answer };
  const { code, err } = await run("onPoison: stop");
  expect(code).toBe(1);
  expect(err).toMatch(text);
  expect(seen.filter(({ method }) => method === "PUT")).toEqual([]);
});

test("a service that cannot be reached is told by the error's code", async () => {
  const { code, err } = await cli(["apply", "--url", "http://127.0.0.1:1"], {
    files: { "/srv/app/streams.yaml": "sources: [{ name: a, kind: documents, topic: t }]" },
  });
  expect({ code, err }).toEqual({
    code: 1,
    err: "a: GET http://127.0.0.1:1/v1/sources/a/definition failed (ECONNREFUSED)\n",
  });
});

test.each(["ftp://h", "h:8080", "http://user:secret@h", ""])("the URL %j is refused", async (url) => {
  const { code, err } = await cli(["apply", `--url=${url}`]);
  expect(code).toBeGreaterThan(0);
  expect(err).not.toContain("secret@");
});
