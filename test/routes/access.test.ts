import { describe, expect, test } from "vitest";
import { TOKENS, testApp, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const PUT = { method: "PUT", url: "/v1/sources/articles/definition" } as const;

describe("with tokens", () => {
  test.each([
    ["no header", {}, "TOKEN_MISSING"],
    ["another scheme", { authorization: "Basic dXNlcjpwYXNz" }, "TOKEN_MISSING"],
    ["no token", { authorization: "Bearer " }, "TOKEN_MISSING"],
    ["two words", { authorization: `Bearer ${TOKENS.viewer} x` }, "TOKEN_MISSING"],
    ["an unknown token", { authorization: "Bearer 01234567890123456789" }, "TOKEN_INVALID"],
    ["a prefix of one", { authorization: `Bearer ${TOKENS.viewer.slice(0, -1)}` }, "TOKEN_INVALID"],
    ["the token in the address", {}, "TOKEN_MISSING"],
  ] as const)("%s is 401 with a challenge", async (_name, headers, code) => {
    const { app } = await testApp({ access: withTokens() });
    const answer = await app.inject({ url: "/v1/lag", headers });
    expectProblem(answer, code);
    expectContract(app, "GET", "/v1/lag", answer);
  });

  test("a role that is too weak is 403 and names the role", async () => {
    const { app, plane, log } = await testApp({ access: withTokens() });
    const answer = await app.inject({ ...PUT, headers: { authorization: `Bearer ${TOKENS.operator}` } });
    expect(expectProblem(answer, "ROLE_INSUFFICIENT")["detail"]).toContain("admin");
    expectContract(app, "PUT", "/v1/sources/{source}/definition", answer);
    expect(plane.defined).toEqual([]);
    expect(log.at(-1)?.fields).toMatchObject({ caller: "script", status: 403 });
  });

  test("no log line holds a token or an address", async () => {
    const { app, log } = await testApp({ access: withTokens() });
    await app.inject({
      url: "/v1/documents/articles/secret-id",
      headers: { authorization: `Bearer ${TOKENS.viewer}` },
    });
    await app.inject({
      url: "/v1/documents/articles/secret-id",
      headers: { authorization: "Bearer wrong-wrong-wrong-wrong" },
    });
    expect(log.length).toBeGreaterThan(0);
    const text = JSON.stringify(log);
    expect(text).not.toContain(TOKENS.viewer);
    expect(text).not.toContain("wrong-wrong");
    expect(text).not.toContain("secret-id");
    expect(text).toContain("/v1/documents/:namespace/:id");
  });

  test("any host and any origin are answered: a page does not have the token", async () => {
    const { app } = await testApp({ access: withTokens() });
    const headers = {
      authorization: `Bearer ${TOKENS.admin}`,
      host: "streams.example",
      origin: "https://other.example",
    };
    expect((await app.inject({ url: "/v1/lag", headers })).statusCode).toBe(200);
    expectProblem(await app.inject({ ...PUT, headers }), "BODY_NOT_JSON");
  });

  test("what is not there is told without a token, what is there is not", async () => {
    const { app } = await testApp({ access: withTokens() });
    expectProblem(await app.inject({ url: "/v1/nothing" }), "ROUTE_UNKNOWN");
    expectProblem(await app.inject({ url: "/v1/sources/nope" }), "TOKEN_MISSING");
    expectProblem(await app.inject({ url: "/v1/lag?x=1" }), "TOKEN_MISSING");
  });
});

describe("without tokens", () => {
  test("an Authorization header does no harm", async () => {
    const { app } = await testApp();
    expect((await app.inject({ url: "/v1/lag", headers: { authorization: "Bearer x" } })).statusCode).toBe(200);
  });

  test.each(["localhost", "localhost:8080", "127.0.0.1:80", "127.1.2.3", "[::1]:8080", "[::1]", "LOCALHOST"])(
    "host %s is answered",
    async (host) => {
      const { app } = await testApp();
      expect((await app.inject({ url: "/v1/lag", headers: { host } })).statusCode).toBe(200);
    },
  );

  test.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:8080",
    "127.0.0.1@evil.example",
    "128.0.0.1",
    "[::2]",
    "0.0.0.0",
    "localhost:8080:80",
    "127.0.0.256",
  ])("host %j is refused: a name can be rebound to 127.0.0.1", async (host) => {
    const { app } = await testApp();
    const answer = await app.inject({ url: "/v1/lag", headers: { host } });
    expectProblem(answer, "HOST_REFUSED");
    expectContract(app, "GET", "/v1/lag", answer);
  });

  test.each(["https://evil.example", "null", "http://localhost:3000", "http://localhost.evil.example"])(
    "a page of %s may read nothing by itself and change nothing",
    async (origin) => {
      const { app, plane } = await testApp();
      const headers = { host: "localhost:8080", origin };
      const answer = await app.inject({ ...PUT, headers });
      expectProblem(answer, "ORIGIN_REFUSED");
      expectContract(app, "PUT", "/v1/sources/{source}/definition", answer);
      expect((await app.inject({ url: "/v1/lag", headers })).headers).not.toHaveProperty("access-control-allow-origin");
      expect(plane.defined).toEqual([]);
    },
  );

  test("a page of this very service may change", async () => {
    const { app } = await testApp();
    const headers = { host: "localhost:8080", origin: "http://localhost:8080" };
    expectProblem(await app.inject({ ...PUT, headers }), "BODY_NOT_JSON");
  });
});
