import { describe, expect, it } from "vitest";
import { testApp } from "./support/app.ts";
import { expectProblem } from "./support/contract.ts";

const AT = "/v1/replays";
const BODY = { source: "articles", reason: "mended" };

/** Case 86: seconds for milliseconds, days that are none, no zone, before 1970, the year that seconds become as milliseconds. */
const IMPOSSIBLE: readonly unknown[] = [
  1_755_933_141,
  1_755_933_141_000,
  "1755933141",
  "1755933141000",
  "2026-02-30",
  "2026-02-30T00:00:00Z",
  "2026-11-30",
  "2026-11-30T08:15:00",
  "-1",
  -1,
  "-2026-11-30T08:15:00Z",
  "1969-12-31T23:59:59Z",
  "57000-01-01T00:00:00Z",
  "+057000-01-01T00:00:00Z",
  "",
  null,
];

describe("times of a replay", () => {
  it.each(IMPOSSIBLE)("%j is none, where it begins and where it ends", async (time) => {
    const { app, plane } = await testApp();
    plane.jobs.asked.length = 0;
    for (const end of ["from", "to"]) {
      const payload = { ...BODY, timestamps: { [end]: time } };
      expectProblem(await app.inject({ method: "POST", url: AT, payload }), "REQUEST_MALFORMED");
    }
    expect(plane.jobs.asked).toEqual([]);
  });

  it("are passed on to the millisecond, and the answer says which offsets they are", async () => {
    const { app, plane } = await testApp();
    plane.jobs.asked.length = 0;
    const timestamps = { from: "2026-11-30T09:15:00.0001+01:00", to: "2026-11-30T08:16:00Z" };
    const answer = await app.inject({ method: "POST", url: AT, payload: { ...BODY, timestamps } });
    expect(answer.statusCode, answer.body).toBe(202);
    const at = Date.UTC(2026, 10, 30, 8, 15);
    expect(plane.jobs.asked[0]?.[3]).toEqual({ timestamps: { fromMs: at + 1, toMs: at + 60_000 } });
    expect(answer.json()).toMatchObject({ partitions: [{ from: "0", to: "20" }, { from: "5" }] });
  });
});
