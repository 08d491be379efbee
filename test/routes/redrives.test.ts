import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";
import { JOB } from "./support/fake-jobs.ts";

const AT = "/v1/redrives";
const BODY = { source: "articles", reason: "mended" };

describe("redrives over HTTP", () => {
  it("are submitted with what narrows them, by whom and why", async () => {
    const { app, plane } = await testApp();
    plane.jobs.asked.length = 0;
    const narrow = { code: "DECODE_WIRE", revision: 3, descriptorVersion: 7 };
    const rates = { recordsPerSecond: 5, bytesPerSecond: 6 };
    const answer = await app.inject({
      method: "POST",
      url: AT,
      headers: { "idempotency-key": "a-1" },
      payload: { ...BODY, ...narrow, rates, ranges: [{ partition: 2, from: "10", to: "20" }, { partition: 1 }] },
    });
    expect(answer.statusCode, answer.body).toBe(202);
    expect(answer.headers["location"]).toBe(`${AT}/${JOB}`);
    expectContract(app, "POST", AT, answer);
    expect(answer.json()).toMatchObject({
      receipt: { read: 4, applied: 2, superseded: 1, failed: 1 },
      etaSeconds: 1.5,
    });
    const asked = { ...narrow, rates, ranges: [{ partition: 2, from: 10, to: 20 }, { partition: 1 }] };
    expect(plane.jobs.asked).toEqual([
      ["submit", "redrive", "articles", asked, { actor: "anonymous", reason: "mended", key: "a-1" }],
    ]);
  });

  it("are tried without applying anything, listed, asked for and cancelled", async () => {
    const { app, plane } = await testApp();
    plane.jobs.asked.length = 0;
    const dry = await app.inject({ method: "POST", url: AT, payload: { ...BODY, dryRun: true } });
    expect(dry.statusCode, dry.body).toBe(200);
    expectContract(app, "POST", AT, dry);
    const listed = await app.inject(`${AT}?source=articles`);
    expectContract(app, "GET", AT, listed);
    const one = await app.inject(`${AT}/${JOB}?wait=1`);
    expectContract(app, "GET", `${AT}/{id}`, one);
    const cancelled = await app.inject({ method: "POST", url: `${AT}/${JOB}/cancel`, payload: { reason: "enough" } });
    expect(cancelled.statusCode, cancelled.body).toBe(202);
    expectContract(app, "POST", `${AT}/{id}/cancel`, cancelled);
    expect(plane.jobs.asked).toEqual([
      ["preview", "redrive", "articles", {}],
      ["list", "redrive", "articles"],
      ["get", "redrive", JOB],
      ["cancel", "redrive", JOB, "anonymous", "enough"],
    ]);
  });

  it.each([
    [{ ranges: [{ from: "1" }] }, {}],
    [{ ranges: [{ partition: 0, to: "99999999999999999" }] }, {}],
    [{ rates: { recordsPerSecond: 0 } }, {}],
    [{}, { "idempotency-key": "a b" }],
    [{ reason: "" }, {}],
  ])("refuse %j %j", async (change, headers) => {
    const { app } = await testApp();
    const answer = await app.inject({ method: "POST", url: AT, headers, payload: { ...BODY, ...change } });
    expectProblem(answer, "REQUEST_MALFORMED");
  });

  it("need the role operator, and say what is in the way", async () => {
    const { app, plane } = await testApp({ access: withTokens() });
    const post = (token: string) =>
      app.inject({ method: "POST", url: AT, headers: { authorization: `Bearer ${token}` }, payload: BODY });
    expectProblem(await post(TOKENS.viewer), "ROLE_INSUFFICIENT");
    plane.jobs.failure = new StreamsError("JOB_OVERLAPS", "replay x applies to partition 0", {
      job: JOB,
      partition: 0,
    });
    expect(expectProblem(await post(TOKENS.operator), "JOB_OVERLAPS")).toMatchObject({
      context: [
        { name: "job", value: JOB },
        { name: "partition", value: "0" },
      ],
    });
    plane.jobs.failure = new StreamsError("JOB_KIND", "source articles counts");
    expectProblem(await post(TOKENS.operator), "JOB_KIND");
  });
});
