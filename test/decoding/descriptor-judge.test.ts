import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createDescriptorJudge } from "../../src/decoding/descriptor-judge.ts";
import type { DescriptorJudge } from "../../src/ports/descriptor-checks.ts";
import { ManualClock } from "../support/manual-clock.ts";

const judges: DescriptorJudge[] = [];
const judgeOf = (...args: Parameters<typeof createDescriptorJudge>): DescriptorJudge => {
  const judge = createDescriptorJudge(...args);
  judges.push(judge);
  return judge;
};
afterAll(() => Promise.all(judges.map((judge) => judge.close())));

const files = (text: string) => ({ "a.proto": `syntax = "proto3"; ${text}` });
const many = (count: number, body: string) =>
  Array.from({ length: count }, (_, index) => `message M${index} { ${body} }`).join("\n");

describe("the judge of descriptors", () => {
  const judge = judgeOf(systemClock);

  it("leaves the event loop turning while a large descriptor is compiled and compared", async () => {
    const fields = Array.from({ length: 20 }, (_, index) => `string f${index} = ${index + 1};`).join(" ");
    const large = files(many(500, fields));
    await judge.digest(files("message A {}"));
    let turns = 0;
    let done = false;
    const turn = (): void => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    const { message } = await judge.read({ files: large }, "M0", undefined);
    const { total } = await judge.compatibility({ before: [large], after: large });
    done = true;
    expect({ message, total }).toEqual({ message: "M0", total: 0 });
    // Compiled here, there would be a turn or two: one for each call.
    expect(turns).toBeGreaterThan(50);
  });

  it("refuses what takes too much memory, and goes on with the next", async () => {
    const small = judgeOf(systemClock, { memoryMiB: 24 });
    const heavy = files(many(60_000, "int32 a = 1;"));
    await expect(small.read({ files: heavy }, "M0", undefined)).rejects.toMatchObject({
      code: "DESCRIPTOR_INVALID",
      message: expect.stringContaining("more memory"),
    });
    await expect(small.digest(files("message A {}"))).resolves.toMatchObject({ content: expect.any(String) });
  });

  it("refuses what takes too much time, and goes on with the next", async () => {
    const clock = new ManualClock();
    const slow = judgeOf(clock, { callMs: 1_000 });
    const answer = slow.read({ files: files(many(20_000, "int32 a = 1;")) }, "M0", undefined);
    const refused = expect(answer).rejects.toMatchObject({ message: expect.stringContaining("more time") });
    await clock.advance(1_000);
    await refused;
    await expect(slow.digest(files("message A {}"))).resolves.toMatchObject({ content: expect.any(String) });
  });

  it("keeps a bounded number of uploads waiting", async () => {
    const narrow = judgeOf(systemClock, { waitingMax: 2 });
    const calls = [1, 2, 3].map(() => narrow.digest(files("message A {}")));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(outcomes[2]).toMatchObject({ reason: { code: "DESCRIPTORS_BUSY" } });
  });

  it("ends what is under way when it is closed", async () => {
    const closing = judgeOf(systemClock);
    const answer = closing.read({ files: files(many(20_000, "int32 a = 1;")) }, "M0", undefined);
    const refused = expect(answer).rejects.toMatchObject({ code: "NOT_READY" });
    await new Promise((resolve) => setImmediate(resolve));
    await closing.close();
    await refused;
    await expect(closing.digest(files("message A {}"))).rejects.toMatchObject({ code: "NOT_READY" });
  });
});
