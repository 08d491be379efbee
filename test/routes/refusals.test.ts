import { describe, expect, it } from "vitest";
import { readTime } from "../../routes/schema/operator-values.ts";
import { testApp } from "./support/app.ts";
import { expectProblem } from "./support/contract.ts";

const BARRIERS = "/v1/sources/articles/barriers";

describe("what a refusal says", () => {
  it("names every unknown and every missing field of a body: a misspelt one is both", async () => {
    const { app } = await testApp();
    const put = (payload: object) => app.inject({ method: "PUT", url: "/v1/sources/articles/pause", payload });
    const problem = expectProblem(await put({ reasn: "x", untill: "y" }), "REQUEST_UNKNOWN_FIELD");
    expect(problem["violations"]).toEqual([
      { place: "body", pointer: "/reasn", text: 'unknown field "reasn"' },
      { place: "body", pointer: "/untill", text: 'unknown field "untill"' },
      { place: "body", pointer: "", text: 'field "reason" is missing' },
    ]);
    expect(problem["detail"]).toContain('unknown field "reasn"');
    expect(problem["detail"]).toContain('field "reason" is missing');
    expect(expectProblem(await put({}), "REQUEST_MALFORMED")["detail"]).toBe('body: field "reason" is missing');
  });

  it("names the format of a time, and gives the nearest branch of a union", async () => {
    const { app } = await testApp();
    const detail = async (at: unknown) =>
      expectProblem(await app.inject({ method: "POST", url: BARRIERS, payload: { at } }), "REQUEST_MALFORMED")[
        "detail"
      ];
    expect(await detail("2026-11-30 08:15")).toContain('body /at: must be "now", or must be an RFC 3339 time');
    expect(await detail({ "0": "-1" })).toContain("body /at/0: must be an offset");
    expect(await detail(5)).not.toContain("anyOf");
    const query = await app.inject("/v1/gaps?since=2026-11-30T09:15:00+01:00");
    expect(expectProblem(query, "REQUEST_MALFORMED")["detail"]).toContain("RFC 3339");
    expect(expectProblem(query, "REQUEST_MALFORMED")["detail"]).toContain("%2B");
  });
});

describe("times that callers send", () => {
  it("are RFC 3339 with any fraction, Z or an offset, rounded up to milliseconds", async () => {
    const at = Date.UTC(2026, 10, 30, 8, 15);
    const times: readonly (readonly [string, number])[] = [
      ["2026-11-30T08:15:00Z", at],
      ["2026-11-30T08:15:00.000Z", at],
      ["2026-11-30t08:15:00.5z", at + 500],
      ["2026-11-30T09:15:00+01:00", at],
      ["2026-11-30T00:15:00.250-08:00", at + 250],
      ["2026-11-30T08:15:00.123456Z", at + 124],
      ["2026-11-30T08:15:00.123000Z", at + 123],
      ["2026-12-01T00:15:00+16:00", at],
    ];
    const { app, plane } = await testApp();
    for (const [text, ms] of times) {
      expect(readTime(text, "body", "")).toBe(ms);
      const answer = await app.inject({ method: "POST", url: BARRIERS, payload: { at: text } });
      expect(answer.statusCode, text).toBe(201);
      expect(plane.barriers.created.at(-1)?.at).toEqual({ at: "timestamp", timestampMs: ms });
      const encoded = encodeURIComponent(text);
      for (const path of ["gaps", "audit"]) {
        const list = await app.inject(`/v1/${path}?since=${encoded}&until=${encoded}`);
        expect(list.statusCode, text).toBe(200);
      }
    }
    const until = { reason: "x", until: "2026-11-30T09:15:00+01:00" };
    const pause = await app.inject({ method: "PUT", url: "/v1/sources/articles/pause", payload: until });
    expect(pause.statusCode, pause.body).toBe(200);
  });

  it.each(["2026-02-30T08:15:00Z", "2027-02-29T08:15:00+01:00", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"])(
    "%s is refused",
    (text) => {
      expect(() => readTime(text, "body", "/at")).toThrow(/no calendar/);
    },
  );
});
