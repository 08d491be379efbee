import { describe, expect, it } from "vitest";
import { closeOpenRow, enter, reserve, type CountingLedger } from "../../src/core/ledger/counting-ledger.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const name = { source: "beacons", partition: 3, log: 0 };

function entered(ledger: CountingLedger): CountingLedger {
  const next = enter(ledger, { name: "n", position: 10, revision: 4, nowMs: 7 });
  if ("until" in next) throw new Error("refused");
  return next;
}

/** Begun at 10, reserved up to 20. */
function reserved(ledger: CountingLedger): CountingLedger {
  return reserve(entered(ledger), {
    name: "n",
    next: 20,
    end: 20,
    ahead: 0,
    revision: 4,
    nowMs: 7,
    segmentEveryMs: 99,
  });
}

describe("ledgers of counting kinds", () => {
  it("are empty before the first start, and read back as they were stored", async () => {
    const ledgers = new CountingLedgers(new MemoryPlane().control);
    expect((await ledgers.read(name)).rows).toEqual([]);
    const stored = await ledgers.update(name, reserved);
    expect(stored).toEqual(await ledgers.read(name));
    expect(stored).toMatchObject({
      rows: [{ number: 1, from: 10, until: 20, revision: 4, openedAtMs: 7 }],
      listed: [1],
      holder: { name: "n", floor: 10 },
    });
  });

  it("sum the listed rows of the present log, and of those before it that stay in the sums", async () => {
    const ledgers = new CountingLedgers(new MemoryPlane().control);
    for (const log of [0, 2, 5]) await ledgers.update({ ...name, log }, reserved);
    await ledgers.update({ ...name, log: 5 }, (ledger) => closeOpenRow(ledger, 8));
    await ledgers.update({ ...name, log: 5 }, (ledger) => ({ ...ledger, listed: [2] }));
    const past = [
      { log: 0, epochs: [] },
      { log: 2, epochs: [], summed: true },
    ];
    const rows = await ledgers.summed("beacons", { log: 5, past }, 3);
    expect(rows.map(({ log, number, partition }) => [log, number, partition])).toEqual([
      [2, 1, 3],
      [5, 2, 3],
    ]);
  });
});
