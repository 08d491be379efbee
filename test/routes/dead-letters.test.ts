import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const AT = "/v1/sources/articles/dead-letters";
const PATH = "/v1/sources/{source}/dead-letters";

describe("dead letters over HTTP", () => {
  it("are asked for by code, revision, descriptor version, partition, range, cursor and limit", async () => {
    const { app, plane } = await testApp();
    const query = "code=DECODE_WIRE&revision=4&descriptorVersion=7&partition=3&from=10&to=20&cursor=0/5&limit=200";
    for (const asked of ["", `?${query}`, "?raw=true", "?raw=false"]) {
      const answer = await app.inject(`${AT}${asked}`);
      expect(answer.statusCode, answer.body).toBe(200);
      expectContract(app, "GET", PATH, answer);
    }
    expect(plane.letters.asked.map(([, of]) => of)).toEqual([
      {},
      {
        code: "DECODE_WIRE",
        revision: 4,
        descriptorVersion: 7,
        partition: 3,
        from: 10,
        to: 20,
        cursor: "0/5",
        limit: 200,
      },
      { raw: true },
      { raw: false },
    ]);
  });

  it("an operator sees keys, and on request the record byte for byte; a viewer neither", async () => {
    const { app, plane } = await testApp({ access: withTokens() });
    const ask = (token: string, query: string) =>
      app.inject({ url: `${AT}?${query}`, headers: { authorization: `Bearer ${token}` } });
    const operator = await ask(TOKENS.operator, "raw=true");
    expect(operator.json()).toMatchObject({
      content: "shown",
      next: "0/19",
      letters: [
        {
          offset: "9007199254740",
          attempt: 2,
          state: "open",
          firstSeen: "1970-01-01T00:00:01.000Z",
          lastSeen: { known: true, value: "1970-01-01T00:00:02.000Z" },
          timestamp: { known: false },
          key: { text: "secret-key" },
          raw: {
            key: Buffer.from("secret-key").toString("base64"),
            value: "/wA=",
            headers: [
              { name: "/w==", value: null },
              { name: "/w==", value: Buffer.from("secret-header").toString("base64") },
            ],
          },
        },
        { omitted: { value: { bytes: 3 }, key: { bytes: 900 }, headers: 2 }, raw: { key: null, value: null } },
      ],
    });
    const plain = await ask(TOKENS.operator, "");
    expect(plain.body).not.toContain('"raw"');
    const viewer = await ask(TOKENS.viewer, "");
    expect(viewer.body).not.toMatch(/secret|c2VjcmV0/);
    expect(viewer.json()).toMatchObject({ content: "hidden", letters: [{ code: "DECODE_TRUNCATED" }, {}] });
    plane.letters.asked.length = 0;
    expectProblem(await ask(TOKENS.viewer, "raw=true"), "ROLE_INSUFFICIENT");
    expect(plane.letters.asked, "refused before anything is read").toEqual([]);
  });

  it.each([
    "from=1",
    "to=1",
    "partition=-1",
    "limit=0",
    "limit=201",
    "raw=yes",
    "code=a",
    "partition=0&from=99999999999999999",
  ])("refuses %s", async (query) => {
    const { app } = await testApp();
    expectProblem(await app.inject(`${AT}?${query}`), "REQUEST_MALFORMED");
  });

  it("says why there is no answer", async () => {
    const { app, plane } = await testApp();
    plane.letters.failure = new StreamsError("DEAD_LETTERS_TOO_MANY", "more than 500000");
    expectProblem(await app.inject(AT), "DEAD_LETTERS_TOO_MANY");
    plane.letters.failure = new SourceFault("broker-unreachable", "secret host");
    const away = await app.inject(AT);
    expectProblem(away, "BROKER_UNAVAILABLE");
    expect(away.body).not.toContain("secret");
  });
});
