import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/errors.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { testApp } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

/** Every operation that reads: its path in the contract and an address that answers 200. */
const READS = [
  { path: "/livez", url: "/livez" },
  { path: "/readyz", url: "/readyz" },
  { path: "/", url: "/" },
  { path: "/v1/sources", url: "/v1/sources" },
  { path: "/v1/sources/{source}", url: "/v1/sources/articles" },
  { path: "/v1/sources/{source}/definition", url: "/v1/sources/articles/definition" },
  { path: "/v1/sources/{source}/partitions", url: "/v1/sources/articles/partitions" },
  { path: "/v1/sources/{source}/partitions/{partition}", url: "/v1/sources/articles/partitions/0" },
  { path: "/v1/sources/{source}/partitions/{partition}", url: "/v1/sources/articles/partitions/1" },
  { path: "/v1/lag", url: "/v1/lag" },
  { path: "/v1/sources/{source}/lag", url: "/v1/sources/articles/lag" },
  { path: "/v1/documents/{namespace}/{id}", url: "/v1/documents/articles/17" },
  { path: "/v1/documents/{namespace}", url: "/v1/documents/articles?keyBase64=MTc" },
  { path: "/v1/kv/owners", url: "/v1/kv/owners" },
] as const;

const MEASURED = READS.filter(({ path }) => path.startsWith("/v1/"));

describe("operations that read", () => {
  test.each(READS)("GET $url answers as the contract says", async ({ path, url }) => {
    const { app } = await testApp();
    const answer = await app.inject({ url });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expectContract(app, "GET", path, answer);
  });

  test.each(READS)("GET $url refuses an unknown query field, also beside a known one", async ({ path, url }) => {
    const { app } = await testApp();
    const answer = await app.inject({ url: `${url}${url.includes("?") ? "&" : "?"}limitt=3` });
    const problem = expectProblem(answer, "REQUEST_UNKNOWN_FIELD");
    expect(problem["violations"]).toEqual([{ place: "query", pointer: "/limitt", text: 'unknown field "limitt"' }]);
    expectContract(app, "GET", path, answer);
  });

  test.each(READS)("GET $url refuses a body", async ({ url }) => {
    const { app } = await testApp();
    const headers = { "content-type": "application/json" };
    expectProblem(await app.inject({ method: "GET", url, headers, payload: "{}" }), "REQUEST_MALFORMED");
  });

  test.each(MEASURED)(
    "GET $url hides what it did not expect and logs it under the request id",
    async ({ path, url }) => {
      const { app, plane, log } = await testApp();
      plane.failure = new TypeError("secret of the inside");
      const answer = await app.inject({ url });
      const problem = expectProblem(answer, "INTERNAL");
      expect(answer.body).not.toContain("secret");
      expectContract(app, "GET", path, answer);
      const line = log.find(({ level }) => level === "error");
      expect(line?.fields["requestId"]).toBe(problem["requestId"]);
      expect(line?.fields["err"]).toBe(plane.failure);
    },
  );

  test.each([
    [new KvFault("KV_ENGINE", "node 10.0.0.7 is down"), "KV_UNAVAILABLE"],
    [new SourceFault("broker-unreachable", "10.0.0.8 refused"), "BROKER_UNAVAILABLE"],
  ] as const)("a fault of a store or a broker that slips through is 503: %s", async (fault, code: ErrorCode) => {
    const { app, plane } = await testApp();
    plane.failure = fault;
    const answer = await app.inject({ url: "/v1/documents/articles/17" });
    expectProblem(answer, code);
    expect(answer.body).not.toContain("10.0.0");
  });

  test("too few owners: 503 that names those that are not up", async () => {
    const { app, plane } = await testApp();
    plane.failure = new KvFault("KV_NO_QUORUM", "a read needs 2 of 3 owners; not up: b OWNER_CRASHED, c OWNER_EMPTY");
    const problem = expectProblem(await app.inject({ url: "/v1/documents/articles/17" }), "KV_UNAVAILABLE");
    expect(problem["detail"]).toContain("not up: b OWNER_CRASHED, c OWNER_EMPTY");
  });
});

describe("what is not there", () => {
  const UNKNOWN = [
    ["/v1/sources/nope", "SOURCE_UNKNOWN", "/v1/sources/{source}"],
    ["/v1/sources/nope/definition", "SOURCE_UNKNOWN", "/v1/sources/{source}/definition"],
    ["/v1/sources/nope/partitions", "SOURCE_UNKNOWN", "/v1/sources/{source}/partitions"],
    ["/v1/sources/nope/partitions/0", "SOURCE_UNKNOWN", "/v1/sources/{source}/partitions/{partition}"],
    ["/v1/sources/nope/partitions/9999999999", "SOURCE_UNKNOWN", "/v1/sources/{source}/partitions/{partition}"],
    ["/v1/sources/articles/partitions/7", "PARTITION_UNKNOWN", "/v1/sources/{source}/partitions/{partition}"],
    ["/v1/sources/articles/partitions/9999999999", "PARTITION_UNKNOWN", "/v1/sources/{source}/partitions/{partition}"],
    ["/v1/sources/nope/lag", "SOURCE_UNKNOWN", "/v1/sources/{source}/lag"],
  ] as const;

  test.each(UNKNOWN)("GET %s is %s", async (url, code, path) => {
    const { app } = await testApp();
    const answer = await app.inject({ url });
    expectProblem(answer, code);
    expectContract(app, "GET", path, answer);
  });

  test.each(["-1", "01", "+1", "1.0", "1e1", "0x1", "", "00", "99999999999", "٣"])(
    "a partition is digits without leading zeros: %j is not",
    async (partition) => {
      const { app } = await testApp();
      const answer = await app.inject({ url: `/v1/sources/articles/partitions/${encodeURIComponent(partition)}` });
      expectProblem(answer, "REQUEST_MALFORMED");
    },
  );

  test.each(["Articles", "a%2Fb", "%2e%2e%2fb", "a%00b", "a%0ab", "a%252Fb", "-a", "a".repeat(101), "%C3%A9", ".a"])(
    "a source's name has no %s",
    async (name) => {
      const { app } = await testApp();
      expectProblem(await app.inject({ url: `/v1/sources/${name}` }), "REQUEST_MALFORMED");
    },
  );

  test("a name of 100 characters is only unknown; dots are legal in it", async () => {
    const { app } = await testApp();
    expectProblem(await app.inject({ url: `/v1/sources/a${".".repeat(99)}` }), "SOURCE_UNKNOWN");
  });

  test("a part of a path beyond 1,536 characters is 414", async () => {
    const { app } = await testApp();
    expectProblem(await app.inject({ url: `/v1/sources/${"a".repeat(1_537)}` }), "ADDRESS_TOO_LONG");
  });

  test.each([
    "/nope",
    "/v1",
    "/v1/",
    "/v1/sources/",
    "/v1/sources/articles/",
    "/v1/lag/",
    "//livez",
    "/livez/",
    "/LIVEZ",
    "/v1/sources//lag/x",
  ])("GET %s is no resource", async (url) => {
    const { app } = await testApp();
    const answer = await app.inject({ url });
    expect([400, 404], answer.body).toContain(answer.statusCode);
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  });
});

describe("what is measured", () => {
  test("a number that is NaN or negative is not known, and spoils its row alone", async () => {
    const { app } = await testApp();
    const { partitions } = (await app.inject({ url: "/v1/lag" })).json<{ partitions: Record<string, unknown>[] }>();
    expect(partitions[0]).toMatchObject({ records: { known: true, value: 8 }, seconds: { known: true, value: 0.4 } });
    expect(partitions[1]).toMatchObject({
      records: { known: false, cause: "leader-unavailable" },
      seconds: { known: false, cause: "not-measurable" },
      timeToLossSeconds: { known: false, cause: "not-measurable" },
    });
  });

  test("offsets are decimal strings, in stops as well", async () => {
    const { app } = await testApp();
    const answer = await app.inject({ url: "/v1/sources/articles/partitions" });
    expect(answer.json().partitions[0]).toMatchObject({ committed: "10", watermark: "12", position: "15", end: "20" });
    expect(answer.json().partitions[1].stop).toMatchObject({
      wanted: "5",
      bounds: { logStart: "9", end: "20" },
      lost: { from: "5", to: "9" },
    });
    expect(answer.json().partitions[1]).not.toHaveProperty("committed");
  });
});

describe("/livez and /readyz", () => {
  test.each([
    ["starting", 503, "not-ready"],
    ["serving", 200, "ready"],
    ["draining", 503, "not-ready"],
  ] as const)("while %s /readyz is %i and /livez 200", async (phase, status, word) => {
    const { app, plane } = await testApp();
    plane.phase = phase;
    const answer = await app.inject({ url: "/readyz" });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ status: word, phase, kv: "up" });
    expect(answer.headers["retry-after"]).toBe(status === 503 ? "2" : undefined);
    expectContract(app, "GET", "/readyz", answer);
    expect((await app.inject({ method: "HEAD", url: "/readyz" })).statusCode).toBe(status);
    expect((await app.inject({ url: "/livez" })).statusCode).toBe(200);
  });

  test("an outage of the KV plane or of everything behind the API fails neither", async () => {
    const { app, plane } = await testApp();
    plane.kv = "away";
    plane.failWith("BROKER_UNAVAILABLE");
    expect((await app.inject({ url: "/livez" })).statusCode).toBe(200);
    const answer = await app.inject({ url: "/readyz" });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ status: "ready", phase: "serving", kv: "away" });
  });
});

describe("the service itself", () => {
  test("the index links to addresses that exist", async () => {
    const { app } = await testApp();
    const { links, release } = (await app.inject({ url: "/" })).json<{ links: { href: string }[]; release: string }>();
    expect(release).toBe("1.2.3");
    const filled = links.map(({ href }) =>
      href
        .replace("{source}", "articles")
        .replace("{partition}", "0")
        .replace("{namespace}", "a")
        .replace("{id}", "1")
        .replace("{key}", "MTc"),
    );
    for (const url of filled) expect((await app.inject({ url })).statusCode, url).toBe(200);
    expect(filled).toContain("/metrics");
  });

  test("/metrics gives text and type as they are", async () => {
    const { app } = await testApp();
    const answer = await app.inject({ url: "/metrics" });
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.body).toBe("up 1\n");
  });

  test("without metrics there is no /metrics and no link to it", async () => {
    const { app } = await testApp({ metrics: undefined } as never);
    expectProblem(await app.inject({ url: "/metrics" }), "ROUTE_UNKNOWN");
    expect((await app.inject({ url: "/" })).body).not.toContain("/metrics");
  });

  test("/openapi.json is the contract, twice the same", async () => {
    const { app } = await testApp();
    const one = await app.inject({ url: "/openapi.json" });
    expect(one.json()).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" } });
    expect((await app.inject({ url: "/openapi.json" })).body).toBe(one.body);
  });

  test("no handler of a fake is called with a name that its schema refuses", async () => {
    const { app, plane } = await testApp();
    await app.inject({ url: "/v1/documents/Articles/1" });
    expect(plane.read).toEqual([]);
  });
});

test.each(["/v1/sources", "/v1/lag"])(
  "GET %s says that it does not know yet while the sources are loaded",
  async (url) => {
    const { app, plane } = await testApp();
    plane.phase = "starting";
    expectProblem(await app.inject({ url }), "NOT_READY");
    plane.phase = "draining";
    expect((await app.inject({ url })).statusCode).toBe(200);
  },
);
