import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/errors.ts";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";
import { NOW } from "./support/fake-control-plane.ts";

const RESUME = "/v1/sources/articles/partitions/1/resume";
const RESUME_PATH = "/v1/sources/{source}/partitions/{partition}/resume";
const body = { from: "log-start", acceptLoss: { from: "100", toMax: "600" }, reason: "retention" };
const UNTIL = "2026-12-01T00:00:00.000Z";
const PAUSE = { by: "source", reason: "disk", actor: "script", since: NOW, until: NOW + 1_000, audit: "0-1" } as const;

function post(url: string, payload: object, headers: Readonly<Record<string, string>> = {}) {
  return { method: "POST", url, payload, headers } as const;
}

describe("a pause", () => {
  it.each([
    ["/v1/sources/articles/pause", { source: "articles" }, "/v1/sources/{source}/pause"],
    [
      "/v1/sources/articles/partitions/3/pause",
      { source: "articles", partition: 3 },
      "/v1/sources/{source}/partitions/{partition}/pause",
    ],
  ])("is set and ended at %s", async (url, target, path) => {
    const { app, plane } = await testApp();
    plane.operators.paused = PAUSE;
    const put = await app.inject({ method: "PUT", url, payload: { reason: "disk", until: UNTIL } });
    expect(put.json()).toMatchObject({ desired: "paused", pause: { by: "source", actor: "script" }, audit: "0-1" });
    expectContract(app, "PUT", path, put);
    plane.operators.paused = undefined;
    const end = await app.inject({ method: "DELETE", url: `${url}?reason=done` });
    expect(end.json()).toEqual({ desired: "running", audit: "0-2" });
    expectContract(app, "DELETE", path, end);
    expect(plane.operators.calls.map(({ args }) => args)).toEqual([
      [target, { actor: "anonymous", reason: "disk" }, Date.parse(UNTIL)],
      [target, { actor: "anonymous", reason: "done" }],
    ]);
  });

  it("is shown where it holds, beside what is desired", async () => {
    const { app } = await testApp();
    const view = await app.inject("/v1/sources/articles/partitions/0");
    expect(view.json()).toMatchObject({ desired: "running" });
  });

  it("needs a reason, and a time that a calendar has", async () => {
    const { app } = await testApp();
    const url = "/v1/sources/articles/pause";
    for (const payload of [
      {},
      { reason: "" },
      { reason: " " },
      { reason: "x", until: "tomorrow" },
      { reason: "x", until: 5 },
    ]) {
      expectProblem(await app.inject({ method: "PUT", url, payload }), "REQUEST_MALFORMED");
    }
    const impossible = { reason: "x", until: "2026-02-30T00:00:00.000Z" };
    expectProblem(await app.inject({ method: "PUT", url, payload: impossible }), "REQUEST_MALFORMED");
    expectProblem(
      await app.inject({ method: "PUT", url, payload: { reason: "x", for: "1h" } }),
      "REQUEST_UNKNOWN_FIELD",
    );
  });
});

describe("a resumption", () => {
  it("passes on exactly what was asked, with the ETag that was read", async () => {
    const { app, plane } = await testApp();
    const etag = (await app.inject("/v1/sources/articles/partitions/1")).headers["etag"];
    expect(etag).toBe('"state-1"');
    const answer = await app.inject(post(RESUME, { ...body, allowPoison: { to: "9" } }, { "if-match": String(etag) }));
    expect(answer.json()).toEqual({ partition: 1, from: "500", gaps: ["articles/1/0-0"], audit: "0-3" });
    expectContract(app, "POST", RESUME_PATH, answer);
    expect(plane.operators.calls[0]?.args).toEqual([
      { source: "articles", partition: 1 },
      { actor: "anonymous", reason: "retention" },
      { from: "log-start", acceptLoss: { from: 100, toMax: 600 }, allowPoison: { to: 9 } },
      "state-1",
    ]);
  });

  it("needs a reason that reads as it was written: no control characters, no other line, no turned text", async () => {
    const { app, plane } = await testApp();
    for (const code of [0x00, 0x07, 0x09, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0x2028, 0x2029, 0x202e, 0x2066]) {
      const reason = `before${String.fromCharCode(code)}after`;
      const answer = await app.inject(post(RESUME, { ...body, reason }, { "if-match": '"state-1"' }));
      expectProblem(answer, "REQUEST_MALFORMED");
      const pause = {
        method: "DELETE",
        url: `/v1/sources/articles/pause?reason=${encodeURIComponent(reason)}`,
      } as const;
      expectProblem(await app.inject(pause), "REQUEST_MALFORMED");
    }
    expect(plane.operators.calls).toEqual([]);
    const reason = "Aufbewahrung zu kurz — 保持期間, émoji 🙂";
    expect((await app.inject(post(RESUME, { ...body, reason }, { "if-match": '"state-1"' }))).statusCode).toBe(200);
  });

  it("needs If-Match, and is refused before anything is looked at without", async () => {
    const { app, plane } = await testApp();
    expectProblem(await app.inject(post(RESUME, body)), "PRECONDITION_REQUIRED");
    expectProblem(await app.inject(post(RESUME, body, { "if-match": 'W/"state-1"' })), "PRECONDITION_FAILED");
    expectProblem(await app.inject(post(RESUME, body, { "if-match": "*" })), "REQUEST_MALFORMED");
    expect(plane.operators.calls).toEqual([]);
  });

  it.each<[object, ErrorCode]>([
    [{ reason: "x" }, "REQUEST_MALFORMED"],
    [{ from: "latest", reason: "x" }, "REQUEST_MALFORMED"],
    [{ from: 5, reason: "x" }, "REQUEST_MALFORMED"],
    [{ from: "007", reason: "x" }, "REQUEST_MALFORMED"],
    [{ from: "-1", reason: "x" }, "REQUEST_MALFORMED"],
    [{ from: "9999999999999999", reason: "x" }, "REQUEST_MALFORMED"],
    [{ from: "5" }, "REQUEST_MALFORMED"],
    [{ from: "5", reason: "x", acceptLoss: { from: "1" } }, "REQUEST_MALFORMED"],
    [{ from: "5", reason: "x", acceptLoss: { from: "1", toMax: "2", to: "2" } }, "REQUEST_UNKNOWN_FIELD"],
    [{ from: "5", reason: "x", force: true }, "REQUEST_UNKNOWN_FIELD"],
  ])("refuses %j", async (payload, code) => {
    const { app, plane } = await testApp();
    expectProblem(await app.inject(post(RESUME, payload, { "if-match": '"state-1"' })), code);
    expect(plane.operators.calls).toEqual([]);
  });

  it("that is refused shows the range and the bounds as they are now, and the page of the stop", async () => {
    const { app, plane } = await testApp();
    plane.operators.refusal = {
      code: "LOSS_NOT_ACCEPTED",
      extra: {
        lost: { from: "100", to: "700" },
        bounds: { logStart: "700", end: "900" },
        page: "docs/stops/BELOW_LOG_START.md",
      },
    };
    const answer = await app.inject(post(RESUME, body, { "if-match": '"state-1"' }));
    expect(expectProblem(answer, "LOSS_NOT_ACCEPTED")).toMatchObject({
      lost: { from: "100", to: "700" },
      bounds: { logStart: "700", end: "900" },
      page: "docs/stops/BELOW_LOG_START.md",
    });
    expectContract(app, "POST", RESUME_PATH, answer);
  });

  it.each<[ErrorCode, number]>([
    ["PARTITION_NOT_STOPPED", 409],
    ["LOSS_NOT_ACCEPTED", 409],
    ["EPOCH_REQUIRED", 409],
    ["PRECONDITION_FAILED", 412],
    ["RESUME_OUT_OF_RANGE", 422],
    ["RESUME_POINT_UNKNOWN", 422],
  ])("answers %s with %i", async (code, status) => {
    const { app, plane } = await testApp();
    plane.operators.refusal = { code, extra: {} };
    const answer = await app.inject(post(RESUME, body, { "if-match": '"state-1"' }));
    expectProblem(answer, code);
    expect(answer.statusCode).toBe(status);
    expectContract(app, "POST", RESUME_PATH, answer);
  });

  it("of a whole source answers per partition", async () => {
    const { app, plane } = await testApp();
    const extra = { lost: { from: "1", to: "2" }, bounds: { logStart: "2", end: "9" } };
    plane.operators.items = [
      { outcome: "resumed", partition: 0, from: 7, gaps: [], audit: "0-5" },
      { outcome: "refused", partition: 1, error: { code: "LOSS_NOT_ACCEPTED", detail: "lost", extra } },
    ];
    const url = "/v1/sources/articles/resumptions";
    const etag = (await app.inject("/v1/sources/articles")).headers["etag"];
    const answer = await app.inject(post(url, body, { "if-match": String(etag) }));
    expect(answer.json()).toMatchObject({
      source: "articles",
      items: [
        { partition: 0, outcome: "resumed", from: "7", audit: "0-5" },
        { partition: 1, outcome: "refused", problem: { code: "LOSS_NOT_ACCEPTED", lost: { from: "1", to: "2" } } },
      ],
    });
    expectContract(app, "POST", "/v1/sources/{source}/resumptions", answer);
    expectProblem(await app.inject(post(url, body)), "PRECONDITION_REQUIRED");
  });
});

describe("a topic epoch", () => {
  it("is opened with its reason", async () => {
    const { app, plane } = await testApp();
    const url = "/v1/sources/articles/epochs";
    const answer = await app.inject(post(url, { reason: "re-created", counting: "continues" }));
    expect(answer.json()).toEqual({ source: "articles", topicEpoch: 1, partitions: 4, audit: "0-4" });
    expectContract(app, "POST", "/v1/sources/{source}/epochs", answer);
    expect(plane.operators.calls[0]?.args[2]).toBe("continues");
    for (const payload of [{}, { reason: "x", counting: "both" }]) {
      expectProblem(await app.inject(post(url, payload)), "REQUEST_MALFORMED");
    }
  });
});

describe("reads of what operators did", () => {
  const gap = { topicEpoch: 0, from: 100, to: 600, actor: "chief", reason: "why", at: NOW, lastAt: NOW, codes: [] };

  it("list gaps and audit entries that name each other, with a cursor", async () => {
    const { app, plane } = await testApp();
    plane.operators.gapPage = {
      gaps: [{ ...gap, id: "articles/1/0-0", source: "articles", partition: 1, cause: "lost", audit: "0-3" }],
      next: "articles/1/0-0",
    };
    const gaps = await app.inject(`/v1/gaps?source=articles&since=${UNTIL}&until=${UNTIL}&cause=lost&actor=chief`);
    expect(gaps.json()).toMatchObject({ gaps: [{ from: "100", to: "600", audit: "0-3" }], next: "articles/1/0-0" });
    expectContract(app, "GET", "/v1/gaps", gaps);
    const untilMs = Date.parse(UNTIL);
    const query = { sinceMs: untilMs, untilMs, source: "articles", cause: "lost", actor: "chief" };
    expect(plane.operators.calls[0]?.args).toEqual([query]);
    const entry = { at: NOW, actor: "chief", action: "resume", source: "articles", partition: 1, reason: "why" };
    plane.operators.auditPage = {
      entries: [{ ...entry, id: "0-3", detail: "from 600", outcome: "applied", gaps: ["articles/1/0-0"] }],
    };
    const audit = await app.inject("/v1/audit?actor=chief&cursor=0-4");
    expect(audit.json()).toMatchObject({ entries: [{ id: "0-3", gaps: ["articles/1/0-0"] }] });
    expectContract(app, "GET", "/v1/audit", audit);
  });

  it("refuse what they do not know", async () => {
    const { app, plane } = await testApp();
    expectProblem(await app.inject("/v1/gaps?limit=5"), "REQUEST_UNKNOWN_FIELD");
    expectProblem(await app.inject("/v1/gaps?cause=other"), "REQUEST_MALFORMED");
    expectProblem(await app.inject("/v1/audit?since=yesterday"), "REQUEST_MALFORMED");
    plane.operators.refusal = { code: "CURSOR_UNKNOWN", extra: {} };
    expectProblem(await app.inject("/v1/audit?cursor=nonsense"), "CURSOR_UNKNOWN");
  });
});

describe("who may", () => {
  it("read: viewers; change: operators, under the name of their token", async () => {
    const { app, plane } = await testApp({ access: withTokens() });
    const as = (token: string) => ({ authorization: `Bearer ${token}`, "if-match": '"state-1"' });
    const changes = [
      { method: "PUT", url: "/v1/sources/articles/pause", payload: { reason: "x" } },
      { method: "DELETE", url: "/v1/sources/articles/pause" },
      { method: "PUT", url: "/v1/sources/articles/partitions/1/pause", payload: { reason: "x" } },
      { method: "DELETE", url: "/v1/sources/articles/partitions/1/pause" },
      { method: "POST", url: RESUME, payload: body },
      { method: "POST", url: "/v1/sources/articles/resumptions", payload: body },
      { method: "POST", url: "/v1/sources/articles/epochs", payload: { reason: "x" } },
    ] as const;
    for (const change of changes) {
      expectProblem(await app.inject({ ...change, headers: as(TOKENS.viewer) }), "ROLE_INSUFFICIENT");
      expect((await app.inject({ ...change, headers: as(TOKENS.operator) })).statusCode).toBe(200);
    }
    expect(plane.operators.calls).toHaveLength(changes.length);
    for (const { args } of plane.operators.calls) expect(args[1]).toMatchObject({ actor: "script" });
    for (const url of ["/v1/gaps", "/v1/audit"]) {
      expect((await app.inject({ url, headers: as(TOKENS.viewer) })).statusCode).toBe(200);
    }
  });

  it("change nothing while the service starts or drains", async () => {
    const { app, plane } = await testApp();
    plane.phase = "draining";
    const headers = { "if-match": '"state-1"' };
    expectProblem(
      await app.inject({ method: "PUT", url: "/v1/sources/articles/pause", payload: { reason: "x" } }),
      "NOT_READY",
    );
    expectProblem(await app.inject(post(RESUME, body, headers)), "NOT_READY");
    expectProblem(await app.inject(post("/v1/sources/articles/epochs", { reason: "x" })), "NOT_READY");
    expect(plane.operators.calls).toEqual([]);
  });
});
