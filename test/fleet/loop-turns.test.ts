import { expect, it } from "vitest";
import { LoopTurns } from "../../src/fleet/loop-turns.ts";

it("gives one caller its turn in a round of the event loop, in the order of asking", async () => {
  const turns = new LoopTurns();
  const log: string[] = [];
  const state = { working: true };
  const rounds = (async () => {
    while (state.working) {
      log.push("round");
      await new Promise(setImmediate);
    }
  })();
  await Promise.all(["a", "b", "c"].map((name) => turns.next().then(() => log.push(name))));
  state.working = false;
  await rounds;
  const work = log.filter((entry) => entry !== "round");
  expect(work).toEqual(["a", "b", "c"]);
  for (const [before, after] of [
    ["a", "b"],
    ["b", "c"],
  ] as const) {
    expect(log.slice(log.indexOf(before), log.indexOf(after))).toContain("round");
  }
});
