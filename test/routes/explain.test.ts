import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const AT = "/v1/sources/articles/explain";
const PATH = "/v1/sources/{source}/explain";

describe("explain over HTTP", () => {
  it("one record, or the last ones of a key given as text or bytes", async () => {
    const { app, plane } = await testApp();
    plane.explain.asked.length = 0;
    for (const query of ["partition=0&offset=12", "key=%C3%A4&last=50", "keyBase64=_wA"]) {
      const answer = await app.inject(`${AT}?${query}`);
      expect(answer.statusCode, answer.body).toBe(200);
      expectContract(app, "GET", PATH, answer);
    }
    expect(plane.explain.asked).toEqual([
      ["articles", 0, 12],
      ["articles", Buffer.from("ä"), 50],
      ["articles", Buffer.of(255, 0), 1],
    ]);
  });

  it("an operator sees what the record holds, bounded; a viewer codes, offsets and versions", async () => {
    const { app } = await testApp({ access: withTokens() });
    const ask = (token: string, query: string) =>
      app.inject({ url: `${AT}?${query}`, headers: { authorization: `Bearer ${token}` } });
    const operator = await ask(TOKENS.operator, "partition=0&offset=12");
    const { records, content } = operator.json<{ content: string; records: [{ record: { judged: object } }] }>();
    expect(content).toBe("shown");
    expect(records[0].record).toMatchObject({
      key: { text: "secret-key", bytes: 10 },
      judged: {
        inputs: [
          { name: "id", value: "secret-input" },
          { value: "9007199254740993" },
          { value: "/w==" },
          { value: "1970-01-01T00:00:00.000Z" },
          { value: "-5" },
          { name: "none", type: "flag" },
          { value: "x".repeat(1_000), cut: true },
        ],
        body: { format: "json", bytes: 19, text: '{"a":"secret-body"}' },
      },
    });
    for (const query of ["partition=0&offset=12", "key=a"]) {
      const viewer = await ask(TOKENS.viewer, query);
      expect(viewer.body).not.toMatch(/secret|x{20}|9007199254740993/);
      expect(viewer.json()).toMatchObject({
        content: "hidden",
        records: [
          {
            verdict: "superseded",
            supersededBy: { partition: 1, offset: "9", revision: 2 },
            record: { valueBytes: 20, judged: { revision: 2, unknownFields: [{ path: "3.7", count: 2 }] } },
            owners: [
              { owner: "a", cell: { offset: "9" } },
              { owner: "b", answer: "unavailable" },
            ],
          },
        ],
      });
      expectContract(app, "GET", PATH, viewer);
    }
  });

  it("refuses what is neither, what is both, and what it does not know", async () => {
    const { app } = await testApp();
    for (const query of [
      "",
      "?partition=0",
      "?offset=1",
      "?partition=00&offset=1",
      "?partition=0&offset=-1",
      "?partition=0&offset=9999999999999999",
      "?partition=0&offset=1&last=2",
      "?partition=0&offset=1&key=a",
      "?key=a&keyBase64=YQ",
      "?key=",
      "?key=a&last=51",
      "?key=a&last=0",
      `?key=${"%C3%A4".repeat(257)}`,
    ]) {
      expectProblem(await app.inject(`${AT}${query}`), "REQUEST_MALFORMED");
    }
    expectProblem(await app.inject(`${AT}?key=a&lasts=1`), "REQUEST_UNKNOWN_FIELD");
    expectProblem(await app.inject(`${AT}?partition=9999999999&offset=1`), "PARTITION_UNKNOWN");
  });

  it("says what is in the way, and writes nothing of a record to the log", async () => {
    const { app, plane, log } = await testApp();
    for (const [failure, code] of [
      [new StreamsError("RECORD_UNREADABLE", "offset 1: checksum"), "RECORD_UNREADABLE"],
      [new StreamsError("EXPLAIN_BUSY", "four are under way"), "EXPLAIN_BUSY"],
      [new SourceFault("timeout", "no answer"), "BROKER_UNAVAILABLE"],
    ] as const) {
      plane.explain.failure = failure;
      const answer = await app.inject(`${AT}?partition=0&offset=1`);
      expectProblem(answer, code);
      expectContract(app, "GET", PATH, answer);
    }
    plane.explain.failure = undefined;
    await app.inject(`${AT}?key=secret-asked`);
    expect(JSON.stringify(log)).not.toMatch(/secret/);
  });
});
