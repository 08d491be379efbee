import { expect, test } from "vitest";
import { ownerBody } from "../../routes/kv/list-owners.ts";
import { testApp } from "./support/app.ts";
import { expectContract, expectProblem } from "./support/contract.ts";

const PATH = "/v1/kv/owners/{owner}/repair";
const post = (owner: string, payload: unknown) => ({
  method: "POST" as const,
  url: `/v1/kv/owners/${owner}/repair`,
  headers: { "content-type": "application/json" },
  payload: JSON.stringify(payload),
});

test("a repair is ordered with its reason and answers where to look", async () => {
  const { app, plane } = await testApp();
  const answer = await app.inject(post("b", { reason: "new disk" }));
  expect(answer.statusCode, answer.body).toBe(202);
  expect(answer.headers["location"]).toBe("/v1/kv/owners");
  expect(plane.repairs).toMatchObject([
    { owner: "b", order: { actor: "anonymous", reason: "new disk", acceptLoss: false } },
  ]);
  expectContract(app, "POST", PATH, answer);
});

test("an unknown owner is 404, a body that is not as the contract says 400", async () => {
  const { app, plane } = await testApp();
  plane.repairs.splice(0);
  expectProblem(await app.inject(post("z", { reason: "r" })), "KV_OWNER_UNKNOWN");
  expectProblem(await app.inject(post("b", { reason: "r", force: true })), "REQUEST_UNKNOWN_FIELD");
  for (const bad of [{}, { reason: "" }, { reason: "r", acceptLoss: "true" }]) {
    expectProblem(await app.inject(post("b", bad)), "REQUEST_MALFORMED");
  }
  expect(plane.repairs).toEqual([]);
});

test("what a lost owner's former data was is not told as if it were there", () => {
  const status = {
    owner: "b",
    since: 0,
    incarnation: "b-1",
    pendingBytes: 0,
    storedBytes: 4_096,
    compared: { at: 1, missed: 2 },
  };
  const lost = ownerBody({ ...status, state: "lost", reason: { code: "OWNER_EMPTY", text: "its directory is empty" } });
  expect(lost).not.toHaveProperty("storedBytes");
  expect(lost).not.toHaveProperty("compared");
  expect(ownerBody({ ...status, state: "up" })).toMatchObject({ storedBytes: 4_096, compared: { missed: 2 } });
});
