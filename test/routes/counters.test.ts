import { describe, expect, test } from "vitest";
import { scoreText, VISITORS_ERROR_PERCENT } from "../../routes/schema/counters.ts";
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
    expect(calibration.json()).toMatchObject({ article: "a", clicks: "1", predictedClicks: "0.500000000", ratio: 2 });
    const dial = await app.inject({ url: "/v1/dials/reach" });
    expectContract(app, "get", "/v1/dials/{id}", dial);
  });

  test("what a path cannot carry is asked for by the bytes of its key", async () => {
    const { app, plane } = await testApp();
    const key = Buffer.from("..").toString("base64url");
    const traffic = await app.inject({ url: `/v1/traffic?keyBase64=${key}&by=day` });
    expectContract(app, "get", "/v1/traffic", traffic);
    expect(traffic.json()).toMatchObject({ article: ".." });
    const actions = await app.inject({
      url: `/v1/campaigns/actions?keyBase64=${key}&by=hour&from=2026-11-30T00:00:00Z`,
    });
    expectContract(app, "get", "/v1/campaigns/actions", actions);
    const calibration = await app.inject({ url: `/v1/campaigns/calibration?keyBase64=${key}` });
    expectContract(app, "get", "/v1/campaigns/calibration", calibration);
    expect(plane.counters.asked.slice(-3)).toEqual([
      expect.objectContaining({ article: "..", by: "day" }),
      expect.objectContaining({ campaign: "..", by: "hour", fromMs: Date.UTC(2026, 10, 30) }),
      expect.objectContaining({ campaign: "..", article: undefined }),
    ]);
    const dial = await app.inject({ url: `/v1/dials?keyBase64=${Buffer.from("reach").toString("base64url")}` });
    expectContract(app, "get", "/v1/dials", dial);
    expect((await app.inject({ url: "/v1/dials?keyBase64=_w" })).statusCode).toBe(400);
  });

  test("a key that no record can have spoils no other", async () => {
    const { app, plane } = await testApp();
    const articles = ["a", "", "é".repeat(257), "b"];
    const before = plane.counters.asked.length;
    const answer = await app.inject({ method: "POST", url: "/v1/traffic", payload: { articles } });
    expectContract(app, "post", "/v1/traffic", answer);
    const items = answer.json<{ items: { article: string; traffic?: unknown; problem?: { detail: string } }[] }>()
      .items;
    expect(items.map(({ article, problem }) => [article, problem?.detail])).toEqual([
      ["a", undefined],
      ["", "it is empty"],
      [articles[2], "it has more than 512 bytes"],
      ["b", undefined],
    ]);
    expect(items.map(({ traffic }) => traffic !== undefined)).toEqual([true, false, false, true]);
    expect(plane.counters.asked).toHaveLength(before + 1);
    const campaigns = await app.inject({ method: "POST", url: "/v1/campaigns/actions", payload: { campaigns: [""] } });
    expectContract(app, "post", "/v1/campaigns/actions", campaigns);
    expect(campaigns.json()).toMatchObject({ items: [{ campaign: "", problem: { code: "REQUEST_MALFORMED" } }] });
  });

  test("sums of scores are written exactly", () => {
    expect([0n, 1n, 1_500_000_000n, 2n ** 70n].map(scoreText)).toEqual([
      "0.000000000",
      "0.000000001",
      "1.500000000",
      "1180591620717.411303424",
    ]);
    expect(VISITORS_ERROR_PERCENT).toBeCloseTo(1.63, 2);
  });

  test.each([
    ["/v1/traffic/a?by=week", 400],
    ["/v1/traffic/a?from=yesterday", 400],
    ["/v1/traffic/a?cursor=%20", 400],
    ["/v1/traffic/a?breakdown=rows", 400],
    ["/v1/traffic/a?metrics=view", 400],
    ["/v1/traffic/a?namespace=other", 404],
    ["/v1/campaigns/c/actions?by=campaign", 400],
    ["/v1/campaigns/c/actions?by=site&from=2026-11-30T00:00:00Z", 400],
    ["/v1/campaigns/c/actions?to=2026-11-30T00:00:00Z", 400],
    ["/v1/traffic", 400],
    ["/v1/traffic?keyBase64=_w", 400],
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
