import { describe, expect, test } from "vitest";
import { testApp } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

describe("counters", () => {
  test("traffic is asked for as the query says, and told exactly", async () => {
    const { app, plane } = await testApp();
    const url =
      "/v1/traffic/a%2Fb?metric=view&from=2026-11-30T00:00:00Z&to=2026-11-30T01:00:00Z&by=hour&breakdown=slots";
    const answer = await app.inject({ url });
    expectContract(app, "get", "/v1/traffic/{article}", answer);
    const from = Date.UTC(2026, 10, 30);
    const asked = { article: "a/b", metric: "view", fromMs: from, toMs: from + 3_600_000, by: "hour", breakdown: true };
    expect(plane.counters.asked).toEqual([expect.objectContaining(asked)]);
    expect(answer.json()).toMatchObject({
      article: "a/b",
      traffic: [{ metric: "view", count: "1152921504606846976", visitors: 8, slots: [{ from: "10", offset: "99" }] }],
      asOf: [
        { partition: 0, known: true, offset: "12" },
        { partition: 1, known: false },
      ],
      next: "bmV4dA",
    });
  });

  test("traffic of many articles, ad actions and calibration keep their contracts", async () => {
    const { app } = await testApp();
    const bulk = await app.inject({ method: "POST", url: "/v1/traffic", payload: { articles: ["a", "b"] } });
    expectContract(app, "post", "/v1/traffic", bulk);
    expect(bulk.json()).toMatchObject({ items: [{ article: "a" }, { article: "b" }] });
    const hours = await app.inject({ url: "/v1/campaigns/c/actions?by=hour" });
    expectContract(app, "get", "/v1/campaigns/{campaign}/actions", hours);
    expect(hours.json()).toMatchObject({ actions: [{ start: { known: true }, impressions: "5", clicks: "1" }] });
    const totals = await app.inject({ url: "/v1/campaigns/c/actions" });
    expect(totals.json()).toMatchObject({ actions: [{ impressions: "5", clicks: "1" }] });
    const many = await app.inject({
      method: "POST",
      url: "/v1/campaigns/actions",
      payload: { campaigns: ["c"], by: "site" },
    });
    expectContract(app, "post", "/v1/campaigns/actions", many);
    const calibration = await app.inject({ url: "/v1/campaigns/c/calibration?article=a" });
    expectContract(app, "get", "/v1/campaigns/{campaign}/calibration", calibration);
    expect(calibration.json()).toMatchObject({ article: "a", clicks: "1", predictedClicks: 0.5, ratio: 2 });
    const dial = await app.inject({ url: "/v1/dials/reach" });
    expectContract(app, "get", "/v1/dials/{id}", dial);
  });

  test.each([
    ["/v1/traffic/a?by=week", 400],
    ["/v1/traffic/a?from=yesterday", 400],
    ["/v1/traffic/a?cursor=%20", 400],
    ["/v1/traffic/a?breakdown=rows", 400],
    ["/v1/traffic/a?metrics=view", 400],
    ["/v1/traffic/a?namespace=other", 404],
    ["/v1/campaigns/c/actions?by=campaign", 400],
    [`/v1/traffic/${encodeURIComponent("é".repeat(257))}`, 400],
  ])("%s is %d", async (url, status) => {
    const { app } = await testApp();
    const answer = await app.inject({ url });
    if (status === 404) expectProblem(answer, "NAMESPACE_UNKNOWN");
    else expect(answer.statusCode, answer.body).toBe(status);
  });

  test("a bulk read takes 1,000 keys and not one more", async () => {
    const { app } = await testApp();
    const ask = (count: number) =>
      app.inject({
        method: "POST",
        url: "/v1/traffic",
        payload: { articles: Array.from({ length: count }, (_, i) => `${i}`) },
      });
    expect((await ask(1_000)).statusCode).toBe(200);
    expect((await ask(1_001)).statusCode).toBe(400);
    expect((await ask(0)).statusCode).toBe(400);
  });
});
