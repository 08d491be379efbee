import { describe, expect, test } from "vitest";
import { DIGITS, PROVENANCE } from "./support/fake-control-plane.ts";
import { testApp } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const BY_ID = "/v1/documents/{namespace}/{id}";
const BY_KEY = "/v1/documents/{namespace}";

/** Ids that were read wrongly somewhere: each must address the document with exactly that id. */
const IDS = [
  "a/b",
  "a%2Fb",
  "a%252Fb",
  "../../etc",
  "a\0b",
  "a\nb",
  "a b+c",
  "%",
  "%zz",
  "é",
  "e\u0301",
  "日本",
  "\u{1F600}",
  "\uFEFFbom",
  "?x=1",
  "a#b",
  "a;b",
  "a\\b",
  "__proto__",
  "constructor",
  "a".repeat(512),
  "/",
  "é".repeat(256),
] as const;

describe("a document by its id", () => {
  test.each(IDS)("%j is read as it is, by id and by key", async (id) => {
    const { app, plane } = await testApp();
    const byId = await app.inject({ url: `/v1/documents/articles/${encodeURIComponent(id)}` });
    expect(byId.statusCode, byId.body).toBe(200);
    expect(byId.json().id).toBe(id);
    const byKey = await app.inject({
      url: `/v1/documents/articles?keyBase64=${Buffer.from(id).toString("base64url")}`,
    });
    expect(byKey.statusCode, byKey.body).toBe(200);
    expect(byKey.body).toBe(byId.body);
    expect(plane.read).toEqual([
      { namespace: "articles", id },
      { namespace: "articles", id },
    ]);
  });

  test.each([
    ["513 bytes", "a".repeat(513)],
    ["257 characters of two bytes", "é".repeat(257)],
    ["300 characters of three bytes", "日".repeat(300)],
  ])("an id of %s is refused", async (_name, id) => {
    const { app, plane } = await testApp();
    expectProblem(await app.inject({ url: `/v1/documents/articles/${encodeURIComponent(id)}` }), "REQUEST_MALFORMED");
    const key = Buffer.from(id).toString("base64url");
    expectProblem(await app.inject({ url: `/v1/documents/articles?keyBase64=${key}` }), "REQUEST_MALFORMED");
    expect(plane.read).toEqual([]);
  });

  test.each(["%ff", "%c3", "%ed%a0%80", "%zz", "%"])("a path with %s is no UTF-8: refused", async (id) => {
    const { app, plane } = await testApp();
    expectProblem(await app.inject({ url: `/v1/documents/articles/${id}` }), "REQUEST_MALFORMED");
    expect(plane.read).toEqual([]);
  });

  test.each(["Articles", "a%2Fb", "a%00"])("a namespace has no %s", async (namespace) => {
    const { app } = await testApp();
    expectProblem(await app.inject({ url: `/v1/documents/${namespace}/1` }), "REQUEST_MALFORMED");
    expectProblem(await app.inject({ url: `/v1/documents/${namespace}?keyBase64=MTc` }), "REQUEST_MALFORMED");
  });
});

describe("a document by the bytes of its key", () => {
  test.each([
    ["Pz8_", "???"],
    ["Pz8/", "???"],
    ["Pj4-", ">>>"],
    ["Pj4%2B", ">>>"],
    ["MTc=", "17"],
    ["MTc", "17"],
    ["MQ==", "1"],
  ])("%s is the key %s", async (text, id) => {
    const { app, plane } = await testApp();
    const answer = await app.inject({ url: `/v1/documents/articles?keyBase64=${text}` });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(plane.read).toEqual([{ namespace: "articles", id }]);
  });

  test.each(["", "M", "MTd", "MTc==", "MQ=", "MR==", "MT c", "Pj4+", "MTc.", "=", "MT=c", "gA", "_-8"])(
    "%j is refused",
    async (text) => {
      const { app, plane } = await testApp();
      const answer = await app.inject({ url: `/v1/documents/articles?keyBase64=${text}` });
      expectProblem(answer, "REQUEST_MALFORMED");
      expect(plane.read).toEqual([]);
      expectContract(app, "GET", BY_KEY, answer);
    },
  );

  test.each([
    ["no field", ""],
    ["no value", "?keyBase64"],
    ["the field twice", "?keyBase64=MTc&keyBase64=MTg"],
    ["the same field twice", "?keyBase64=MTc&keyBase64=MTc"],
    ["the name encoded the second time", "?keyBase64=MTc&%6beyBase64=MTc"],
    ["broken encoding", "?keyBase64=%zz"],
    ["no UTF-8", "?keyBase64=%ff"],
    ["broken encoding in a name", "?%zz=1&keyBase64=MTc"],
    ["an empty part", "?keyBase64=MTc&"],
    ["an empty name", "?=1&keyBase64=MTc"],
    ["brackets", "?keyBase64[]=MTc"],
  ])("a query with %s is refused", async (_name, query) => {
    const { app, plane } = await testApp();
    const answer = await app.inject({ url: `/v1/documents/articles${query}` });
    expect(answer.statusCode, answer.body).toBe(400);
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(plane.read).toEqual([]);
  });

  test("__proto__ in a query is an unknown field like any other", async () => {
    const { app } = await testApp();
    const answer = await app.inject({ url: "/v1/documents/articles?keyBase64=MTc&__proto__=1" });
    expectProblem(answer, "REQUEST_UNKNOWN_FIELD");
  });
});

describe("a document's body", () => {
  test("JSON goes out byte for byte", async () => {
    const { app } = await testApp();
    const answer = await app.inject({ url: "/v1/documents/articles/17" });
    expect(answer.body).toContain(`"body":{"format":"json","value":${DIGITS}}`);
    expect(answer.json().provenance).toEqual({
      source: "articles",
      partition: 3,
      offset: "1099511627000",
      topicEpoch: 0,
      revision: 2,
      descriptorVersion: 1,
      timestamp: { known: true, value: "2026-11-30T08:15:00.000Z" },
    });
  });

  test.each(["protobuf", "raw"] as const)("%s goes out as base64", async (format) => {
    const { app, plane } = await testApp();
    plane.document = { format, bytes: Uint8Array.of(0, 255, 10) };
    const answer = await app.inject({ url: "/v1/documents/articles/17" });
    expect(answer.json().body).toEqual({ format, base64: "AP8K" });
    expectContract(app, "GET", BY_ID, answer);
  });

  test.each(["null", "0", '"a\u2028b"', "[]", '{"__proto__":1}', "1e400"])("the JSON %s is a body", async (value) => {
    const { app, plane } = await testApp();
    plane.document = { format: "json", bytes: Buffer.from(value) };
    const answer = await app.inject({ url: "/v1/documents/articles/17" });
    expect(answer.body).toContain(`"value":${value}}`);
  });

  test.each(["", "{", '{"a":1}}', "nul"])(
    "stored JSON that is none (%j) is our fault and says nothing of itself",
    async (text) => {
      const { app, plane, log } = await testApp();
      plane.document = { format: "json", bytes: Buffer.from(text) };
      expectProblem(await app.inject({ url: "/v1/documents/articles/17" }), "INTERNAL");
      expect(log.find(({ level }) => level === "error")?.fields["err"]).toMatchObject({
        message: "a stored document that should be JSON is not",
      });
    },
  );

  test.each([
    [-1, { known: false, cause: "no-timestamp" }],
    [-2, { known: false, cause: "outside-1970-to-9999" }],
    [1e16, { known: false, cause: "outside-1970-to-9999" }],
    [Number.NaN, { known: false, cause: "outside-1970-to-9999" }],
    [0, { known: true, value: "1970-01-01T00:00:00.000Z" }],
    [253_402_300_799_999, { known: true, value: "9999-12-31T23:59:59.999Z" }],
  ])("a record's time of %d is %j", async (timestampMs, expected) => {
    const { app, plane } = await testApp();
    plane.provenance = { ...PROVENANCE, timestampMs };
    const answer = await app.inject({ url: "/v1/documents/articles/17" });
    expect(answer.json().provenance.timestamp).toEqual(expected);
    expectContract(app, "GET", BY_ID, answer);
  });
});

describe("a document that cannot be read", () => {
  test.each(["NAMESPACE_UNKNOWN", "DOCUMENT_UNKNOWN", "KV_UNAVAILABLE"] as const)("%s", async (code) => {
    const { app, plane } = await testApp();
    plane.failWith(code);
    const byId = await app.inject({ url: "/v1/documents/articles/17" });
    expectProblem(byId, code);
    expectContract(app, "GET", BY_ID, byId);
    const byKey = await app.inject({ url: "/v1/documents/articles?keyBase64=MTc" });
    expectProblem(byKey, code);
    expectContract(app, "GET", BY_KEY, byKey);
  });

  test("DOCUMENT_DELETED carries the record that deleted it", async () => {
    const { app, plane } = await testApp();
    plane.failWith("DOCUMENT_DELETED", {
      provenance: PROVENANCE,
      bounds: { logStart: 4 },
      note: "text",
      none: undefined,
    });
    const answer = await app.inject({ url: "/v1/documents/articles/17" });
    const problem = expectProblem(answer, "DOCUMENT_DELETED");
    expect(problem["provenance"]).toMatchObject({ offset: String(PROVENANCE.offset), timestamp: { known: true } });
    expect(problem["context"]).toEqual([
      { name: "bounds", value: '{"logStart":4}' },
      { name: "note", value: "text" },
    ]);
    expectContract(app, "GET", BY_ID, answer);
  });

  test("an answer that takes too long is 503", async () => {
    const { app, plane } = await testApp({ limits: { answerTimeoutMs: 50 } });
    plane.wait = new Promise<void>(() => undefined);
    expectProblem(await app.inject({ url: "/v1/documents/articles/17" }), "ANSWER_TIMEOUT");
  });
});
