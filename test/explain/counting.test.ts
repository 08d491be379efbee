import { describe, expect, it } from "vitest";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { explaining, started } from "./explaining.ts";

const AT = 1_700_000_000_000;

function beacon(world: FleetWorld, article: string, count = ""): void {
  world.log.append(0, article, `${article}|view|${AT}|7|${count}`, AT);
}

describe("what became of a record that is counted", () => {
  it("counted with its row and how far its slot has come at each owner, dead-lettered, or not read", async () => {
    const world = new FleetWorld();
    beacon(world, "a");
    beacon(world, "b");
    world.log.append(0, "a", "bad", AT);
    beacon(world, "a");
    beacon(world, "a", "0");
    await started(world, { kind: "traffic" });
    world.plane.unavailable.add("c");
    const { at } = explaining(world);
    const slot = { answer: "holds", upTo: 4 };
    expect(await at(0)).toMatchObject({
      verdict: "counted",
      applied: 5,
      record: {
        judged: { row: 1, revision: 1, outcome: { outcome: "count" }, inputs: expect.any(Array) as unknown[] },
      },
      slots: [{ row: 1, owners: [{ owner: "a", ...slot }, { owner: "b", ...slot }, { owner: "c" }] }],
    });
    const { record } = await at(0);
    expect(record?.judged?.inputs.map(({ name, value }) => [name, value])).toEqual([
      ["article", "a"],
      ["metric", "view"],
      ["occurred_at", AT],
      ["visitor", 7n],
      ["count", undefined],
    ]);
    expect(await at(1)).toMatchObject({ verdict: "counted", slots: [{ owners: [{ upTo: 2 }, { upTo: 2 }, {}] }] });
    expect(await at(2)).toMatchObject({
      verdict: "dead-lettered",
      record: { judged: { outcome: { code: "DECODE_TEST" } } },
    });
    expect(await at(4), "a count of 0 stands for no event").toMatchObject({ verdict: "counted", slots: [] });
    beacon(world, "a");
    expect(await at(5)).toMatchObject({ verdict: "not-read", reason: "not-reached" });
    expect(await at(6)).toMatchObject({ verdict: "not-produced" });
  });

  it("is missing only when enough owners have said so", async () => {
    const world = new FleetWorld();
    beacon(world, "a");
    await started(world, { kind: "traffic" });
    for (const name of world.plane.cells.keys()) if (name.startsWith("slot/")) world.plane.cells.delete(name);
    const { at } = explaining(world);
    expect((await at(0)).verdict).toBe("missing");
    world.plane.unavailable.add("b").add("c");
    await expect(at(0)).rejects.toMatchObject({ code: "KV_UNAVAILABLE" });
  });

  it("below the first row is before the start, and above the reservation not reached", async () => {
    const world = new FleetWorld();
    beacon(world, "a");
    await started(world, { kind: "traffic", startFrom: { timestampMs: AT + 1 } });
    world.plane.before = (call) => {
      if (call === "set") throw new KvFault("KV_NO_QUORUM", "fewer than 2 owners are up");
    };
    world.log.append(0, "a", `a|view|${AT}||`, AT + 5);
    const { at } = explaining(world);
    expect(await at(0)).toMatchObject({ verdict: "not-read", reason: "before-start" });
    expect(await at(1)).toMatchObject({ verdict: "not-read", reason: "not-reached" });
  });
});
