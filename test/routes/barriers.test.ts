import { createConnection } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const AT = "/v1/sources/articles/barriers";
const PATH = "/v1/sources/{source}/barriers";

function post(payload: object, headers: Readonly<Record<string, string>> = {}) {
  return { method: "POST", url: AT, payload, headers } as const;
}

describe("barriers over HTTP", () => {
  it("is set at now, at a time or at offsets, and found where Location says", async () => {
    const { app, plane } = await testApp({ access: withTokens() });
    const headers = { authorization: `Bearer ${TOKENS.operator}` };
    for (const at of ["now", "2026-11-30T08:15:00.000Z", { "0": "12", "3": "0" }]) {
      const answer = await app.inject(post({ at }, headers));
      expect(answer.statusCode, answer.body).toBe(201);
      expect(answer.headers.location).toBe(`${AT}/7`);
      expectContract(app, "POST", PATH, answer);
    }
    expect(plane.barriers.created.map(({ at, actor }) => [at, actor])).toEqual([
      [{ at: "now" }, "script"],
      [{ at: "timestamp", timestampMs: Date.UTC(2026, 10, 30, 8, 15) }, "script"],
      [
        {
          at: "offsets",
          offsets: new Map([
            [0, 12],
            [3, 0],
          ]),
        },
        "script",
      ],
    ]);
    const found = await app.inject({ url: `${AT}/7`, headers: { authorization: `Bearer ${TOKENS.viewer}` } });
    expect(found.json()).toMatchObject({
      state: "blocked",
      partitions: [{ to: "9" }, { to: "4", applied: "1", blocked: { by: "stop", why: "POISON" } }],
      losses: { deadLetters: 2, exact: false },
    });
    expectContract(app, "GET", `${PATH}/{barrier}`, found);
    expectProblem(
      await app.inject(post({ at: "now" }, { authorization: `Bearer ${TOKENS.viewer}` })),
      "ROLE_INSUFFICIENT",
    );
  });

  it("refuses what it does not know, numbers that are no text, and a time that no calendar has", async () => {
    const { app, plane } = await testApp();
    for (const at of [
      "later",
      5,
      {},
      { "00": "1" },
      { x: "1" },
      { "0": 1 },
      { "0": "-1" },
      { "0": "9999999999999999" },
    ]) {
      expectProblem(await app.inject(post({ at })), "REQUEST_MALFORMED");
    }
    expectProblem(await app.inject(post({ at: "2026-02-30T00:00:00.000Z" })), "REQUEST_MALFORMED");
    expectProblem(await app.inject(post({ at: "1969-12-31T23:59:59.999Z" })), "REQUEST_MALFORMED");
    expectProblem(await app.inject(post({ at: "now", more: 1 })), "REQUEST_UNKNOWN_FIELD");
    expectProblem(await app.inject(`${AT}/7?wait=21`), "REQUEST_MALFORMED");
    expectProblem(await app.inject(`${AT}/7?waits=2`), "REQUEST_UNKNOWN_FIELD");
    expectProblem(await app.inject(`${AT}/8`), "BARRIER_UNKNOWN");
    plane.phase = "draining";
    expectProblem(await app.inject(post({ at: "now" })), "NOT_READY");
  });

  it("names what blocks it", async () => {
    const { app, plane } = await testApp();
    plane.barriers.failure = new StreamsError("BARRIER_BLOCKED", "partitions that are not read now: 1", {
      blocked: "1: stop POISON",
    });
    const problem = expectProblem(await app.inject(post({ at: "now" })), "BARRIER_BLOCKED");
    expect(problem["context"]).toEqual([{ name: "blocked", value: "1: stop POISON" }]);
  });

  it("says when it is worth asking again", async () => {
    const { app, plane } = await testApp();
    plane.barriers.failure = new StreamsError("BARRIERS_TOO_MANY", "all wait", { retryAfterSeconds: 60 });
    const answer = await app.inject(post({ at: "now" }));
    expect(expectProblem(answer, "BARRIERS_TOO_MANY")["context"]).toBeUndefined();
    expect(answer.headers["retry-after"]).toBe("60");
  });

  it("a wait ends when the caller hangs up, not when the request was read", async () => {
    const { app, plane } = await testApp({});
    const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
    const socket = createConnection(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(`GET ${AT}/7?wait=20 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await expect.poll(() => plane.barriers.waits.length).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(plane.barriers.waits[0]).toMatchObject({ waitMs: 20_000, signal: { aborted: false } });
    socket.destroy();
    await expect.poll(() => plane.barriers.waits[0]?.signal.aborted).toBe(true);
  });
});
