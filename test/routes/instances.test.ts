import { expect, it } from "vitest";
import { testApp, TOKENS, withTokens } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const PATH = "/v1/instances";

it("tells who runs, which version and which partitions, to every role", async () => {
  const { app, plane } = await testApp({ access: withTokens() });
  const ask = () => app.inject({ url: PATH, headers: { authorization: `Bearer ${TOKENS.viewer}` } });
  const answer = await ask();
  expectContract(app, "GET", PATH, answer);
  expect(answer.json()).toMatchObject({
    instances: [{ release: "1.2.3", phase: "serving", sources: [{ source: "articles", partitions: [0, 3] }] }],
  });
  expectProblem(await app.inject(PATH), "TOKEN_MISSING");
  plane.failWith("KV_UNAVAILABLE");
  expectProblem(await ask(), "KV_UNAVAILABLE");
});
