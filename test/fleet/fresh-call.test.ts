import { expect, it } from "vitest";
import { FreshCall } from "../../src/fleet/fresh-call.ts";
import { settle } from "../support/manual-clock.ts";

it("shares what was not sent yet, and never hands out an answer that began before it was asked for", async () => {
  const sent: ((answer: number) => void)[] = [];
  const call = new FreshCall(() => new Promise<number>((resolve) => sent.push(resolve)));
  const first = [call.fresh(), call.fresh()];
  await settle();
  expect(sent).toHaveLength(1);
  const late = [call.fresh(), call.fresh()];
  await settle();
  expect(sent).toHaveLength(1);
  sent[0]?.(1);
  expect(await Promise.all(first)).toEqual([1, 1]);
  await settle();
  expect(sent).toHaveLength(2);
  sent[1]?.(2);
  expect(await Promise.all(late)).toEqual([2, 2]);
});

it("goes on after a failure", async () => {
  let calls = 0;
  const call = new FreshCall(async () => {
    calls += 1;
    if (calls === 1) throw new Error("once");
    return calls;
  });
  await expect(call.fresh()).rejects.toThrow(/once/);
  expect(await call.fresh()).toBe(2);
});
