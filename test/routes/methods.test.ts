import { METHODS } from "node:http";
import { describe, expect, test } from "vitest";
import { contractOf, expectProblem } from "./support/contract.ts";
import { TOKENS, testApp, withTokens } from "./support/app.ts";
import { JOB } from "./support/fake-jobs.ts";

/** Every address of the contract with values that exist. */
function addresses(
  document: ReturnType<typeof contractOf>,
): readonly { readonly url: string; readonly methods: readonly string[] }[] {
  return Object.entries(document["paths"] as Record<string, object>).map(([path, operations]) => {
    const url = path
      .replace("{source}", "articles")
      .replace("{partition}", "0")
      .replace("{owner}", "b")
      .replace("{namespace}", "articles")
      .replace("{barrier}", "7")
      .replace("{subject}", "ysearch.article")
      .replace("{version}", "1")
      .replace(/^(\/v1\/(?:replays|recounts|redrives|trials))\/\{id\}/, `$1/${JOB}`)
      .replace(/\{(?:id|article|campaign)\}/, "17");
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const queries = new Map([
      ["/v1/documents/{namespace}", "?keyBase64=MTc"],
      ["/v1/sources/{source}/explain", "?partition=0&offset=1"],
      ...["/v1/dials", "/v1/traffic", "/v1/campaigns/actions", "/v1/campaigns/calibration"].map(
        (byKey) => [byKey, "?keyBase64=MTc"] as const,
      ),
    ]);
    return { url: url + (queries.get(path) ?? ""), methods };
  });
}

/** The methods of the contract, and HEAD where there is GET. */
function answered(methods: readonly string[]): readonly string[] {
  return methods.includes("GET") ? [...methods, "HEAD"] : methods;
}

/** A change with a body is refused here, because none is sent. */
function takesBody(method: string): boolean {
  return method === "PUT" || method === "POST";
}

/** CONNECT never reaches a route; `sockets.test.ts` has it. */
const ALL_METHODS = METHODS.filter((method) => method !== "CONNECT");

describe("every path with every method", () => {
  test("the contract has the paths that this file walks", async () => {
    const { app } = await testApp();
    expect(addresses(contractOf(app)).map(({ url }) => url)).toHaveLength(56);
  });

  test("a method of the contract is answered, HEAD as GET, any other is 405 with Allow", async () => {
    const { app, plane } = await testApp();
    for (const { url, methods } of addresses(contractOf(app))) {
      const allow = answered(methods).toSorted().join(", ");
      for (const method of ALL_METHODS) {
        const answer = await app.inject({ method: method as "GET", url });
        const place = `${method} ${url}`;
        if (answered(methods).includes(method)) expect(answer.statusCode, place).toBe(takesBody(method) ? 400 : 200);
        else {
          expectProblem(answer, "METHOD_NOT_ALLOWED");
          expect(answer.headers["allow"], place).toBe(allow);
          expect(answer.json().allow, place).toEqual(allow.split(", "));
        }
      }
    }
    expect(plane.defined).toEqual([]);
  });

  test("an unknown path is 404 with every method, whatever its body", async () => {
    const { app } = await testApp();
    for (const method of ALL_METHODS) {
      const answer = await app.inject({ method: method as "GET", url: "/v1/nothing" });
      if (method === "HEAD") expect(answer.statusCode).toBe(404);
      else expectProblem(answer, "ROUTE_UNKNOWN");
    }
    const headers = { "content-type": "application/json" };
    expectProblem(await app.inject({ method: "POST", url: "/v1/nothing", headers, payload: "{" }), "ROUTE_UNKNOWN");
    expectProblem(await app.inject({ method: "POST", url: "/v1/lag", headers, payload: "{" }), "METHOD_NOT_ALLOWED");
  });

  test.each([
    ["/v1/documents/articles/a%2Fb", "GET, HEAD"],
    ["/v1/sources/nope/definition", "GET, HEAD, PUT"],
    ["/v1/documents/articles?keyBase64=MTc", "GET, HEAD"],
    ["http://localhost/v1/lag?x=1", "GET, HEAD"],
  ])("DELETE %s is 405", async (url, allow) => {
    const { app } = await testApp();
    const answer = await app.inject({ method: "DELETE", url });
    expectProblem(answer, "METHOD_NOT_ALLOWED");
    expect(answer.headers["allow"]).toBe(allow);
  });

  test("HEAD has no body, the length of GET's, and fails as GET does", async () => {
    const { app, plane } = await testApp();
    for (const url of ["/v1/sources", "/v1/documents/articles/17", "/openapi.json", "/v1/sources/nope"]) {
      const get = await app.inject({ url });
      const head = await app.inject({ method: "HEAD", url });
      expect(head.statusCode, url).toBe(get.statusCode);
      expect(head.body).toBe("");
      expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    }
    plane.failWith("KV_UNAVAILABLE");
    expect((await app.inject({ method: "HEAD", url: "/v1/documents/articles/17" })).statusCode).toBe(503);
  });
});

describe("every operation with every token", () => {
  const CALLERS = [
    { name: "nobody", headers: {}, may: [], otherwise: 401 },
    { name: "a stranger", headers: { authorization: `Bearer ${"x".repeat(24)}` }, may: [], otherwise: 401 },
    { name: "a viewer", headers: { authorization: `Bearer ${TOKENS.viewer}` }, may: ["read"], otherwise: 403 },
    {
      name: "an operator",
      headers: { authorization: `bearer ${TOKENS.operator}` },
      may: ["read", "operate"],
      otherwise: 403,
    },
    {
      name: "an admin",
      headers: { authorization: `BEARER  ${TOKENS.admin}` },
      may: ["read", "operate", "administer"],
      otherwise: 403,
    },
  ] as const;

  /** Changes of what is in force, of where data lives, and of what was registered, are for admins. */
  const ADMINISTERED = /\/definition$|\/descriptor$|\/repair$|\/versions\/1$/;
  /** Has a body, and changes nothing. */
  const ASKED = /\/compatibility$|^\/v1\/(?:traffic|campaigns\/actions)\?/;
  const kindOf = (method: string, url: string) => {
    if (method === "GET" || method === "HEAD" || ASKED.test(url)) return "read";
    return ADMINISTERED.test(url) ? "administer" : "operate";
  };

  test.each(CALLERS)("$name may $may, anything else is $otherwise", async ({ headers, may, otherwise }) => {
    const { app } = await testApp({ access: withTokens() });
    for (const { url, methods } of addresses(contractOf(app))) {
      const open = url === "/livez" || url === "/readyz";
      for (const method of answered(methods)) {
        const allowed = open || may.some((kind) => kind === kindOf(method, url));
        const expected = !allowed ? otherwise : takesBody(method) ? 400 : 200;
        const answer = await app.inject({
          method: method as "GET",
          url,
          headers: { ...headers, host: "streams.internal" },
        });
        expect(answer.statusCode, `${method} ${url}`).toBe(expected);
      }
    }
  });
});
