import { describe, expect, test } from "vitest";
import { testApp } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";
import { DEFINITION, NOW } from "./support/fake-control-plane.ts";

const URL = "/v1/sources/articles/definition";
const PATH = "/v1/sources/{source}/definition";
const BODY = { ...DEFINITION, startFrom: { timestamp: "2026-11-30T08:15:00.000Z" } };

type Given = Awaited<ReturnType<typeof testApp>>;

function put({ app }: Given, body: unknown, headers: Record<string, string> = { "if-match": '"tag-1"' }, url = URL) {
  const payload = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return app.inject({ method: "PUT", url, payload, headers: { "content-type": "application/json", ...headers } });
}

describe("PUT definition", () => {
  test("puts a definition in force with the ETag that a GET gave", async () => {
    const given = await testApp();
    const got = await given.app.inject({ url: URL });
    expect(got.headers["etag"]).toBe('"tag-1"');
    const { definition } = got.json<{ definition: object }>();
    const answer = await put(given, { ...definition, onPoison: "stop" }, { "if-match": String(got.headers["etag"]) });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.headers["etag"]).toBe('"tag-2"');
    expect(given.plane.defined).toEqual([
      { name: "articles", definition: { ...DEFINITION, onPoison: "stop" }, ifMatch: "tag-1" },
    ]);
    expect(given.plane.definers.splice(0)).toEqual(["anonymous"]);
    expectContract(given.app, "PUT", PATH, answer);
  });

  test("an ETag of any characters comes back as it was", async () => {
    const given = await testApp();
    given.plane.etag = 'a "quoted"\n/é%';
    const got = await given.app.inject({ url: URL });
    const answer = await put(given, BODY, { "if-match": String(got.headers["etag"]) });
    expect(answer.statusCode, answer.body).toBe(200);
  });

  test("If-None-Match: * defines a new source, which may leave version, message and mapping open: 201", async () => {
    const given = await testApp();
    const { mapping: _mapping, ...open } = { ...BODY, name: "bids", descriptor: { subject: "ysearch.article" } };
    const url = "/v1/sources/bids/definition";
    const answer = await put(given, open, { "if-none-match": "*" }, url);
    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.headers["etag"]).toBe('"tag-1"');
    expect(given.plane.created).toMatchObject([{ name: "bids", descriptor: { subject: "ysearch.article" } }]);
    expectContract(given.app, "PUT", PATH, answer);
  });

  test("If-None-Match: * for a source that there is: 412", async () => {
    const given = await testApp();
    const answer = await put(given, BODY, { "if-none-match": "*" });
    expectProblem(answer, "PRECONDITION_FAILED");
    expectContract(given.app, "PUT", PATH, answer);
  });

  test.each<[string, Record<string, string>]>([
    ["an ETag", { "if-none-match": '"tag-1"' }],
    ["nothing", { "if-none-match": "" }],
    ["both headers", { "if-none-match": "*", "if-match": '"tag-1"' }],
  ])("If-None-Match with %s is refused", async (_what, headers) => {
    const given = await testApp();
    expectProblem(await put(given, BODY, headers), "REQUEST_MALFORMED");
    expect([...given.plane.created, ...given.plane.defined]).toEqual([]);
  });

  test.each([
    ["/mapping", { mapping: undefined }],
    ["/descriptor/version", { descriptor: { ...DEFINITION.descriptor, version: undefined } }],
    ["/descriptor/message", { descriptor: { ...DEFINITION.descriptor, message: undefined } }],
  ])("a change must name %s", async (pointer, open) => {
    const given = await testApp();
    const problem = expectProblem(await put(given, { ...BODY, ...open }), "REQUEST_MALFORMED");
    expect(problem["violations"]).toMatchObject([{ place: "body", pointer }]);
    expect(given.plane.defined).toEqual([]);
  });

  test("without If-Match it is 428", async () => {
    const given = await testApp();
    const answer = await put(given, BODY, {});
    expectProblem(answer, "PRECONDITION_REQUIRED");
    expectContract(given.app, "PUT", PATH, answer);
  });

  test.each(['"tag-0"', 'W/"tag-1"', '"%zz"'])("If-Match %s is stale: 412", async (tag) => {
    const given = await testApp();
    expectProblem(await put(given, BODY, { "if-match": tag }), "PRECONDITION_FAILED");
  });

  test.each(["*", "tag-1", '""', '"tag-1", "tag-2"', '"tag-1', "", '"a"b"'])("If-Match %s is refused", async (tag) => {
    const given = await testApp();
    expectProblem(await put(given, BODY, { "if-match": tag }), "REQUEST_MALFORMED");
  });

  test("the body's name must be the path's", async () => {
    const given = await testApp();
    const problem = expectProblem(await put(given, { ...BODY, name: "other" }), "DEFINITION_CHANGE_REFUSED");
    expect(problem["fields"]).toEqual(["name"]);
  });

  test.each([
    "SOURCE_UNKNOWN",
    "DEFINITION_CHANGE_REFUSED",
    "DESCRIPTOR_INVALID",
    "DESCRIPTOR_UNKNOWN",
    "MAPPING_INVALID",
    "KV_UNAVAILABLE",
    "INTERNAL",
  ] as const)("%s is answered as the contract says", async (code) => {
    const given = await testApp();
    given.plane.failWith(code);
    const answer = await put(given, BODY);
    expectProblem(answer, code);
    expectContract(given.app, "PUT", PATH, answer);
  });

  test.each(["starting", "draining"] as const)("while %s it takes no changes", async (phase) => {
    const given = await testApp();
    given.plane.phase = phase;
    const answer = await put(given, BODY);
    expectProblem(answer, "NOT_READY");
    expectContract(given.app, "PUT", PATH, answer);
  });

  const at = Date.UTC(2026, 10, 30, 8, 15);
  test.each<[string | { timestamp: string }, unknown]>([
    ["earliest", "earliest"],
    ["latest", "latest"],
    [{ timestamp: "1970-01-01T00:00:00.000Z" }, { timestampMs: 0 }],
    [{ timestamp: "2026-11-30T08:15:00Z" }, { timestampMs: at }],
    [{ timestamp: "2026-11-30T09:15:00+01:00" }, { timestampMs: at }],
    [{ timestamp: "2026-11-30T00:15:00.25-08:00" }, { timestampMs: at + 250 }],
    // Nothing at or after a finer moment may be missed.
    [{ timestamp: "2026-11-30T08:15:00.123999Z" }, { timestampMs: at + 123 }],
  ])("startFrom may be %j", async (startFrom, wanted) => {
    const given = await testApp();
    const answer = await put(given, { ...BODY, startFrom });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(given.plane.defined.at(-1)?.definition.startFrom).toEqual(wanted);
  });

  test.each([
    "2026-02-30T00:00:00.000Z",
    "2026-11-30T24:00:00.000Z",
    "2026-11-30 08:15:00.000Z",
    "2026-11-30T08:15:00",
    "2026-11-30T08:15:00.Z",
    "2026-11-30T08:15Z",
    "2026-11-30T08:15:60Z",
    "2026-11-30T08:15:00.000+24:00",
    "1764490500000",
    "1755933141",
    "2026-02-30",
    "-1",
    "57000-01-01T00:00:00Z",
    "+057000-01-01T00:00:00Z",
    "0001-01-01T00:00:00.000Z",
    "2026-13-01T00:00:00.000Z",
    NOW,
  ])("startFrom has no time %s", async (timestamp) => {
    const given = await testApp();
    expectProblem(await put(given, { ...BODY, startFrom: { timestamp } }), "REQUEST_MALFORMED");
    expect(given.plane.defined).toEqual([]);
  });
});

describe("the body of a PUT definition", () => {
  test("all of its faults are named, each member's first", async () => {
    const given = await testApp();
    const body = {
      ...BODY,
      kind: "articles",
      worstLagMs: 5,
      mapping: { id: [0] },
      startFrom: { timestamp: "x" },
      form: 9,
    };
    const problem = expectProblem(await put(given, body), "REQUEST_UNKNOWN_FIELD");
    const pointers = (problem["violations"] as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(pointers.toSorted()).toEqual(["/form", "/kind", "/mapping/id/0", "/startFrom/timestamp", "/worstLagMs"]);
    for (const pointer of pointers) expect(problem["detail"]).toContain(`body ${pointer}: `);
    expect(given.plane.defined).toEqual([]);
  });

  test("its faults are bounded, however many there are", async () => {
    const given = await testApp();
    const mapping = Object.fromEntries(Array.from({ length: 5_000 }, (_unused, index) => [`input${index}`, [0]]));
    const unknown = Object.fromEntries(Array.from({ length: 500 }, (_unused, index) => [`x${index}`, 1]));
    const problem = expectProblem(
      await put(given, { ...BODY, ...unknown, mapping, kind: "x" }),
      "REQUEST_UNKNOWN_FIELD",
    );
    expect(problem["violations"]).toHaveLength(20);
  });

  test.each([
    ["at the top", { ...BODY, form: 9 }, "/form"],
    ["in the descriptor", { ...BODY, descriptor: { ...DEFINITION.descriptor, subjekt: "x" } }, "/descriptor/subjekt"],
    ["in startFrom", { ...BODY, startFrom: { timestamp: "2026-11-30T08:15:00.000Z", zone: 1 } }, "/startFrom/zone"],
  ])("an unknown field %s is named", async (_name, body, pointer) => {
    const given = await testApp();
    const problem = expectProblem(await put(given, body), "REQUEST_UNKNOWN_FIELD");
    expect(problem["violations"]).toMatchObject([{ place: "body", pointer }]);
    expect(given.plane.defined).toEqual([]);
  });

  test.each([
    ["a number as text", { ...BODY, worstLagMs: "5000" }],
    ["null for a number", { ...BODY, worstLagMs: null }],
    ["a fraction", { ...BODY, worstLagMs: 5_000.5 }],
    ["a number out of bounds", { ...BODY, worstLagMs: 1e15 }],
    ["one value for a list", { ...BODY, mapping: { id: 1 } }],
    ["a boolean as text", { ...BODY, createDeadLetterTopic: "false" }],
    ["true for a number", { ...BODY, worstLagMs: true }],
    ["a list for a text", { ...BODY, topic: ["a"] }],
    ["a topic .", { ...BODY, topic: "." }],
    ["a topic with a slash", { ...BODY, topic: "a/b" }],
    ["a name with capitals", { ...BODY, name: "Articles" }],
    ["an empty path", { ...BODY, mapping: { id: [] } }],
    ["a field number 0", { ...BODY, mapping: { id: [0] } }],
    ["a mapping's key with a dot", { ...BODY, mapping: { "a.b": [1] } }],
    ["an unknown word", { ...BODY, onPoison: "ignore" }],
    ["a missing member", { ...BODY, topic: undefined }],
    ["a list", [BODY]],
    ["null", null],
    ["text", '"text"'],
  ])("%s is refused", async (_name, body) => {
    const given = await testApp();
    const answer = await put(given, body);
    expectProblem(answer, "REQUEST_MALFORMED");
    expectContract(given.app, "PUT", PATH, answer);
    expect(given.plane.defined).toEqual([]);
  });

  test("a number that is an integer in another notation is that integer", async () => {
    const given = await testApp();
    const text = JSON.stringify(BODY).replace('"worstLagMs":172800000', '"worstLagMs":1728000.00e2');
    expect((await put(given, text)).statusCode).toBe(200);
    expect(given.plane.defined[0]?.definition.worstLagMs).toBe(172_800_000);
  });
});

/** Bodies that a lenient parser takes for something. */
const TEXT = JSON.stringify(BODY);
const REFUSED: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ["nothing but space", "  ", /not JSON/],
  ["half of it", TEXT.slice(0, -1), /not JSON/],
  ["more than one value", `${TEXT}{}`, /not JSON/],
  ["a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(TEXT)]), /byte order mark/],
  ["bytes that are not UTF-8", Buffer.from(TEXT.replace("ysearch.articles", "y\u00e9"), "latin1"), /UTF-8/],
  ["UTF-16", Buffer.from(TEXT, "utf16le"), /not JSON|UTF-8/],
  ["a key twice", TEXT.replace("{", '{"name":"articles",'), /same key twice/],
  ["a key twice, once escaped", TEXT.replace("{", '{"n\\u0061me":"articles",'), /same key twice/],
  ["a key twice, deep", TEXT.replace('"mapping":{', '"mapping":{"id":[2],'), /same key twice/],
  ["__proto__", TEXT.replace("{", '{"__proto__":{"x":1},'), /could change the objects/],
  ["an escaped __proto__", TEXT.replace("{", '{"\\u005f_proto__":{"x":1},'), /could change the objects/],
  ["constructor.prototype", TEXT.replace("{", '{"constructor":{"prototype":{}},'), /could change the objects/],
  ["a mapping to __proto__", TEXT.replace('"mapping":{', '"mapping":{"__proto__":[1],'), /could change the objects/],
  ["digits that would be lost", TEXT.replace("172800000", "9007199254740991.4"), /more digits/],
  ["an integer past 2^53", TEXT.replace("172800000", "9007199254740993"), /more digits/],
  ["a number past a double", TEXT.replace("172800000", "1e999"), /more digits/],
  ["NaN", TEXT.replace("172800000", "NaN"), /not JSON/],
  ["a comment", TEXT.replace("{", "{/*x*/"), /not JSON/],
  ["a trailing comma", `${TEXT.slice(0, -1)},}`, /not JSON/],
  ["30,000 nested arrays", "[".repeat(30_000), /too deeply/],
];

describe("a body that is not strict JSON", () => {
  test.each(REFUSED)("%s: 400 that says why", async (_name, body, why) => {
    const given = await testApp();
    const answer = await put(given, body);
    const problem = expectProblem(answer, "BODY_NOT_JSON");
    expect(problem["detail"]).toMatch(why);
    expectContract(given.app, "PUT", PATH, answer);
    expect(given.plane.defined).toEqual([]);
  });

  test("digits that a double keeps are no reason to refuse", async () => {
    const given = await testApp();
    const problem = expectProblem(
      await put(given, TEXT.replace("172800000", "304250263527210.0")),
      "REQUEST_MALFORMED",
    );
    expect(problem["detail"]).toMatch(/worstLagMs: must be <=/);
  });

  test("no body at all", async () => {
    const given = await testApp();
    const headers = { "if-match": '"tag-1"' };
    expectProblem(await given.app.inject({ method: "PUT", url: URL, headers }), "BODY_NOT_JSON");
    const typed = { ...headers, "content-type": "application/json" };
    expectProblem(await given.app.inject({ method: "PUT", url: URL, headers: typed }), "BODY_NOT_JSON");
  });

  test("one byte above the limit is 413, at the limit it is read", async () => {
    const size = Buffer.byteLength(TEXT);
    const small = await testApp({ limits: { requestBodyBytes: size - 1 } });
    const answer = await put(small, TEXT);
    expectProblem(answer, "BODY_TOO_LARGE");
    expectContract(small.app, "PUT", PATH, answer);
    const right = await testApp({ limits: { requestBodyBytes: size } });
    expect((await put(right, TEXT)).statusCode).toBe(200);
  });
});

describe("a body's headers", () => {
  test.each([
    "text/plain",
    "text/json",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/json; profile=x",
    "application/json; charset=utf-8; charset=utf-8",
    "application/json, text/plain",
    "application/jsonx",
    "application/problem+json",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "",
    "json",
  ])("content type %j is 415", async (type) => {
    const given = await testApp();
    const answer = await put(given, BODY, { "if-match": '"tag-1"', "content-type": type });
    expectProblem(answer, "MEDIA_TYPE_UNSUPPORTED");
    expectContract(given.app, "PUT", PATH, answer);
  });

  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=UTF-8",
    'application/json;charset="utf-8"',
  ])("content type %j is read", async (type) => {
    const given = await testApp();
    const answer = await put(given, BODY, { "if-match": '"tag-1"', "content-type": type });
    expect(answer.statusCode, answer.body).toBe(200);
  });

  test.each(["gzip", "identity", "br", "x"])("content encoding %s is 415", async (encoding) => {
    const given = await testApp();
    const answer = await put(given, BODY, { "if-match": '"tag-1"', "content-encoding": encoding });
    expectProblem(answer, "MEDIA_TYPE_UNSUPPORTED");
  });
});
