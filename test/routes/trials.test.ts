import { describe, expect, it } from "vitest";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";
import { JOB } from "./support/fake-jobs.ts";

const AT = "/v1/trials";
const SUBMIT = "/v1/sources/{source}/trials";
const URL = "/v1/sources/articles/trials";
const version = { candidate: { subject: "ysearch.article", version: 2 }, reason: "before activating" };

describe("trials over HTTP", () => {
  it("are submitted for a source, with a registered candidate or one that is not", async () => {
    const { app, plane } = await testApp();
    plane.jobs.asked.length = 0;
    const more = { mapping: { id: [1] }, last: 50, deadLetters: false };
    const answer = await app.inject({ method: "POST", url: URL, payload: { ...version, ...more } });
    expect(answer.statusCode, answer.body).toBe(202);
    expect(answer.headers["location"]).toBe(`${AT}/${JOB}`);
    expectContract(app, "POST", SUBMIT, answer);
    const files = { candidate: { files: { "a.proto": "message M {}" } }, message: "M" };
    await app.inject({ method: "POST", url: URL, payload: { ...files, reason: "looking" } });
    const order = { actor: "anonymous", reason: "before activating" };
    expect(plane.jobs.asked).toEqual([
      ["submit", "trial", "articles", { candidate: version.candidate, ...more }, order],
      ["submit", "trial", "articles", files, { ...order, reason: "looking" }],
    ]);
  });

  it("are asked for, listed and cancelled; answers have the names of files, not their text", async () => {
    const { app, plane } = await testApp();
    plane.jobs.view = { ...plane.jobs.view, kind: "trial", request: { candidate: { files: { "a.proto": "secret" } } } };
    const one = await app.inject(`${AT}/${JOB}?wait=1`);
    expectContract(app, "GET", `${AT}/{id}`, one);
    expect(one.json()).toMatchObject({ request: { candidate: { files: ["a.proto"] } } });
    const listed = await app.inject(`${AT}?source=articles`);
    expectContract(app, "GET", AT, listed);
    const cancelled = await app.inject({ method: "POST", url: `${AT}/${JOB}/cancel`, payload: { reason: "enough" } });
    expectContract(app, "POST", `${AT}/{id}/cancel`, cancelled);
    expect(one.body + listed.body + cancelled.body).not.toContain("secret");
  });

  it("are refused where they are malformed, and need the role operator", async () => {
    const { app } = await testApp();
    for (const payload of [
      { reason: "x" },
      { ...version, last: 0 },
      { ...version, last: 10_001 },
      { ...version, candidate: { set: "a" } },
    ]) {
      expectProblem(await app.inject({ method: "POST", url: URL, payload }), "REQUEST_MALFORMED");
    }
    const candidate = { ...version.candidate, files: {} };
    for (const payload of [
      { ...version, candidate },
      { ...version, surprise: 1 },
    ]) {
      expectProblem(await app.inject({ method: "POST", url: URL, payload }), "REQUEST_UNKNOWN_FIELD");
    }
    const { app: guarded } = await testApp({ access: withTokens() });
    const headers = { authorization: `Bearer ${TOKENS.viewer}` };
    expectProblem(await guarded.inject({ method: "POST", url: URL, payload: version, headers }), "ROLE_INSUFFICIENT");
  });
});
