import { describe, expect, it } from "vitest";

import { Turns } from "../../../../consumers/kafka/source/turns.ts";
import { settle } from "../../../support/manual-clock.ts";

describe("turns", () => {
  it("lets two run, two wait in order, refuses the fifth, and takes on again when one ends", async () => {
    const turns = new Turns(2, 2);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const tasks = [0, 1, 2, 3].map((number) =>
      turns.take(async () => {
        started.push(number);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (number === 0) throw new Error("the first fails");
        return number;
      }),
    );
    const first = expect(tasks[0]).rejects.toThrow("the first fails");
    await settle();
    expect(started).toEqual([0, 1]);
    await expect(turns.take(async () => 4)).rejects.toMatchObject({ code: "timeout" });
    ends[0]?.();
    await first;
    await settle();
    expect(started).toEqual([0, 1, 2]);
    for (let turn = 0; turn < 3; turn += 1) {
      for (const end of ends) end();
      await settle();
    }
    expect(await Promise.all(tasks.slice(1))).toEqual([1, 2, 3]);
    expect(await turns.take(async () => 5)).toBe(5);
  });
});
