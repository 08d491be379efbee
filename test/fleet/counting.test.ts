import { describe, expect, it } from "vitest";
import { RevisionRecord } from "../../src/control/records.ts";
import { readRecord } from "../../src/control/json-record.ts";
import { countingOf, DEFAULT_COUNTING_OF_SOURCE, type SourceDefinition } from "../../src/core/source.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { expectedSlots, storedSlots } from "../support/counted-sums.ts";
import { FleetWorld } from "../support/fleet-world.ts";
import { Operators } from "../support/operators.ts";

const HOUR = 3_600_000;
const AT = 1_700_000_000_000;

const TRAFFIC: Partial<SourceDefinition> = { kind: "traffic" };

function counting(change: Partial<typeof DEFAULT_COUNTING_OF_SOURCE>): Partial<SourceDefinition> {
  return { ...TRAFFIC, counting: { ...DEFAULT_COUNTING_OF_SOURCE, ...change } };
}

function beacons(world: FleetWorld, count: number, partition = 0): void {
  for (let index = 0; index < count; index += 1) {
    const article = `a${index % 3}`;
    world.log.append(partition, article, `${article}|view|${AT - (index % 2) * HOUR}|${index}|`, AT);
  }
  world.source.poll();
}

async function ledgerOf(world: FleetWorld, partition = 0) {
  return new CountingLedgers(world.plane.control).read({ source: "articles", partition, log: 0 });
}

async function rowsOf(world: FleetWorld) {
  return (await ledgerOf(world)).rows.map(({ from, until, revision }) => [from, until, revision]);
}

async function expectExact(world: FleetWorld, partition = 0): Promise<void> {
  const widths = new Map<number, number>();
  for (const name of world.plane.records.keys()) {
    if (!name.startsWith("revisions/articles/")) continue;
    const record = await readRecord(world.plane.control, name, RevisionRecord);
    widths.set(Number(name.split("/").at(-1)), countingOf(record?.value.definition ?? {}).slotWidthMs);
  }
  const cells = new Map(
    [...world.plane.cells].filter(([name]) => name.startsWith("slot/")).map(([name, cell]) => [name.slice(5), cell]),
  );
  const { records } = world.log.log(partition);
  const ledger = await ledgerOf(world, partition);
  const widthOf = (revision: number) => widths.get(revision) ?? 0;
  const counted = { source: "articles", partition, ledger, records, widthOf };
  expect(storedSlots(counted, cells)).toEqual(expectedSlots(counted));
}

describe("a counting source", () => {
  it("counts every record once, commits, and dead-letters what cannot be counted", async () => {
    const world = new FleetWorld();
    beacons(world, 7);
    world.log.append(0, "a0", "bad");
    await world.start(TRAFFIC);
    await world.clock.advance(2_000);
    expect(world.log.committed.get(0)).toBe(8);
    expect(world.letters.letters.map(({ offset, fault }) => [offset, fault.code])).toEqual([[7, "DECODE_TEST"]]);
    expect(await rowsOf(world)).toEqual([[0, 8, 1]]);
    await expectExact(world);
  });

  it("reserves before it decodes, and never past what its fetch saw of the log", async () => {
    const world = new FleetWorld();
    world.batchRecords = 2;
    let read = 0;
    const seen: (readonly [number | undefined, number])[] = [];
    const { compiler } = world;
    world.compiler = {
      ...compiler,
      compileInputs: (spec) => {
        const reader = compiler.compileInputs(spec);
        return {
          ...reader,
          view: reader.view,
          read: (value) => {
            const record = world.plane.records.get("ledgers/articles/0");
            const ledger = JSON.parse(Buffer.from(record?.value ?? []).toString() || "{}") as {
              rows?: { until: number }[];
            };
            seen.push([ledger.rows?.at(-1)?.until, read]);
            read += 1;
            return reader.read(value);
          },
        };
      },
    };
    beacons(world, 9);
    await world.start(TRAFFIC);
    await world.clock.advance(1_000);
    expect(seen).toHaveLength(9);
    for (const [until, offset] of seen) {
      expect(until, `offset ${offset} is decoded inside the reservation`).toBeGreaterThan(offset);
      expect(until).toBeLessThanOrEqual(9);
    }
  });

  it("restores what it has counted in an earlier life, and skips it when it is read again", async () => {
    const world = new FleetWorld();
    beacons(world, 6);
    await world.start(TRAFFIC);
    await world.clock.advance(2_000);
    await world.crash();
    world.log.committed.set(0, 1);
    world.batchRecords = 4;
    beacons(world, 5);
    await world.start();
    await world.clock.advance(2_000);
    expect(world.log.committed.get(0)).toBe(11);
    await expectExact(world);
  });

  it("a change of the slots' shape ends the row at the reservation, and each record counts under its row", async () => {
    const world = new FleetWorld();
    beacons(world, 6);
    await world.start(TRAFFIC);
    await world.clock.advance(2_000);
    await world.crash();
    beacons(world, 4);
    await world.start(counting({ slotWidthMs: 60_000 }));
    await world.clock.advance(2_000);
    expect(await rowsOf(world)).toEqual([
      [0, 6, 1],
      [6, 10, 2],
    ]);
    await expectExact(world);
  });

  it("ends a row once it has lasted segmentEvery, without a new revision", async () => {
    const world = new FleetWorld();
    beacons(world, 3);
    await world.start(counting({ segmentEveryMs: 60_000 }));
    await world.clock.advance(61_000);
    beacons(world, 3);
    await world.clock.advance(2_000);
    expect(await rowsOf(world)).toEqual([
      [0, 3, 1],
      [3, 6, 1],
    ]);
    await expectExact(world);
  });
});

describe("what was reserved and not sent", () => {
  it("is given back when the source drains", async () => {
    const world = new FleetWorld();
    world.reserveAhead = 100;
    world.batchRecords = 2;
    beacons(world, 20);
    world.plane.closeGate();
    await world.start(TRAFFIC);
    expect(await rowsOf(world)).toEqual([[0, 20, 1]]);
    const drained = world.service.drain(5_000);
    await world.clock.advance(1_000);
    world.plane.openGate();
    await world.clock.advance(5_000);
    await drained;
    // Three batches were in flight.
    expect(await rowsOf(world)).toEqual([[0, 6, 1]]);
  });

  it("is given back at a pause, but not what others may have decoded", async () => {
    const world = new FleetWorld();
    world.reserveAhead = 100;
    world.batchRecords = 2;
    beacons(world, 4);
    await world.start(TRAFFIC);
    await world.clock.advance(2_000);
    const ledgers = new CountingLedgers(world.plane.control);
    // Another life has reserved up to 9 and was frozen.
    await ledgers.update({ source: "articles", partition: 0, log: 0 }, (ledger) => ({
      ...ledger,
      rows: ledger.rows.map((row) => ({ ...row, until: 9 })),
      holder: { name: "another", floor: 4 },
    }));
    beacons(world, 8);
    await world.clock.advance(2_000);
    world.runner().pause(true);
    await world.clock.advance(1_000);
    const { rows, holder } = await ledgerOf(world);
    expect(rows.at(-1)?.until).toBe(12);
    expect(holder?.floor).toBe(9);
  });

  it("a held batch that was decoded before a pause is decoded again: its row may have ended meanwhile", async () => {
    const world = new FleetWorld();
    beacons(world, 3);
    await world.start(counting({ segmentEveryMs: 60_000 }));
    await world.clock.advance(2_000);
    await world.crash();
    world.backoff = { initialMs: 30_000, maxMs: 30_000 };
    await world.start();
    let restores = 0;
    world.plane.before = (call, name) => {
      if (call !== "restore" || name !== "slot") return;
      restores += 1;
      throw new KvFault("KV_NO_QUORUM", "fewer than 2 owners are up");
    };
    await world.clock.advance(55_000);
    beacons(world, 3);
    await world.clock.advance(1_000);
    expect(restores).toBeGreaterThan(0);
    expect(world.runner().state.phase.phase).toBe("holding");
    world.runner().pause(true);
    await world.clock.advance(100);
    expect((await ledgerOf(world)).rows.at(-1)?.until).toBe(3);
    world.plane.before = () => {};
    world.runner().pause(false);
    await world.clock.advance(61_000);
    expect(world.runner().state.watermark).toBe(6);
    expect(await rowsOf(world)).toEqual([
      [0, 3, 1],
      [3, 6, 1],
    ]);
    await expectExact(world);
  });
});

describe("what stops a counting source", () => {
  it("a start below its first row: what it would read is in no row, and is a replay's to count", async () => {
    const world = new FleetWorld();
    beacons(world, 4);
    await world.start({ ...TRAFFIC, startFrom: { timestampMs: AT + 1 } });
    await world.clock.advance(1_000);
    world.log.append(0, "a0", `a0|view|${AT}||`, AT + 2);
    world.source.poll();
    await world.clock.advance(2_000);
    expect(await rowsOf(world)).toEqual([[4, 5, 1]]);
    await world.crash();
    world.log.committed.set(0, 1);
    await world.start();
    await world.clock.advance(2_000);
    expect(world.stopCode()).toBe("START_UNCOVERED");
    expect(world.log.committed.get(0)).toBe(1);
    await new Operators(world).resume({ from: "copy" });
    expect(world.stopCode()).toBeUndefined();
  });

  it("poison under policy stop: what is before it is counted and committed", async () => {
    const world = new FleetWorld();
    beacons(world, 2);
    world.log.append(0, "a0", "bad");
    beacons(world, 2);
    await world.start({ ...TRAFFIC, onPoison: "stop" });
    await world.clock.advance(2_000);
    expect(world.stopCode()).toBe("POISON");
    expect(world.log.committed.get(0)).toBe(2);
    expect(await rowsOf(world)).toEqual([[0, 2, 1]]);
    await new Operators(world).resume({ from: "copy", allowPoison: { to: 3 } });
    expect(world.log.committed.get(0)).toBe(5);
    await expectExact(world);
  });

  it("does not include a growth that moves keys: sums do not ask where records came from", async () => {
    const world = new FleetWorld(2);
    beacons(world, 3, 0);
    await world.start(TRAFFIC);
    await world.clock.advance(2_000);
    world.log.grow(3);
    beacons(world, 3, 2);
    world.source.rejoin();
    await world.clock.advance(2_000);
    expect(world.stopCode(2)).toBeUndefined();
    expect(world.log.committed.get(2)).toBe(3);
    await expectExact(world, 0);
    await expectExact(world, 2);
  });
});

describe("what an operator passes over", () => {
  it("is in no row, and what follows is counted", async () => {
    const world = new FleetWorld();
    beacons(world, 3);
    await world.start(TRAFFIC);
    await world.clock.advance(2_000);
    const operators = new Operators(world);
    await world.crash();
    beacons(world, 6);
    world.log.deleteBelow(0, 7);
    await world.start();
    await world.clock.advance(2_000);
    expect(world.stopCode()).toBe("BELOW_LOG_START");
    await operators.resume({ from: "log-start", acceptLoss: { from: 3, toMax: 7 } });
    await world.clock.advance(2_000);
    expect(world.log.committed.get(0)).toBe(9);
    expect(await rowsOf(world)).toEqual([
      [0, 3, 1],
      [7, 9, 1],
    ]);
  });
});
