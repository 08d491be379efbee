import { describe, expect, it } from "vitest";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";
import { NOW } from "./support/fake-control-plane.ts";

const PATH = "/health/ingest";

describe("GET /health/ingest", () => {
  it("is 200 within the limits, which default to no stopped partition and any known lag", async () => {
    const { app, plane } = await testApp();
    const answer = await app.inject(PATH);
    expect(answer.statusCode).toBe(200);
    expectContract(app, "GET", PATH, answer);
    expect(plane.judged).toEqual([{ maxStopped: 0 }]);
    await app.inject(`${PATH}?maxLagSeconds=300&maxStopped=2&source=articles`);
    expect(plane.judged[1]).toEqual({ maxLagSeconds: 300, maxStopped: 2, source: "articles" });
  });

  it("is 503 with the reasons outside of them, and says nothing of the process", async () => {
    const { app, plane } = await testApp();
    const reasons = [
      { reason: "stopped", cause: "POISON", partitions: [3] },
      { reason: "lag-unknown", cause: "topic-missing", partitions: [] },
    ] as const;
    const sources = [{ source: "articles", healthy: false, stopped: 1, holding: [4], reasons }];
    plane.ingestHealth = { healthy: false, phase: "serving", measuredAt: NOW, sources };
    const answer = await app.inject(PATH);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers["retry-after"]).toBe("2");
    expectContract(app, "GET", PATH, answer);
    expect(answer.json()).toMatchObject({
      status: "outside-limits",
      sources: [{ source: "articles", status: "outside-limits", stopped: 1, holding: [4], reasons }],
    });
    for (const path of ["/livez", "/readyz"]) expect((await app.inject(path)).statusCode).toBe(200);
  });

  it("refuses what it does not know, coerces nothing, and needs a token where there are any", async () => {
    const { app } = await testApp();
    expectProblem(await app.inject(`${PATH}?maxLag=3`), "REQUEST_UNKNOWN_FIELD");
    for (const value of ["-1", "1.5", "1e3", "", "03"]) {
      expectProblem(await app.inject(`${PATH}?maxLagSeconds=${value}`), "REQUEST_MALFORMED");
    }
    expectProblem(await app.inject(`${PATH}?source=nothing`), "SOURCE_UNKNOWN");
    const secured = await testApp({ access: withTokens() });
    expectProblem(await secured.app.inject(PATH), "TOKEN_MISSING");
    const headers = { authorization: `Bearer ${TOKENS.viewer}` };
    expect((await secured.app.inject({ url: PATH, headers })).statusCode).toBe(200);
  });
});
