import { describe, expect, it } from "vitest";
import { readRecord, updateRecord } from "../../src/control/json-record.ts";
import { RevisionRecord, recordNames } from "../../src/control/records.ts";
import type { JobKind } from "../../src/core/job/job.ts";
import type { JobEntry } from "../../src/core/job/job-index.ts";
import { LedgerReader } from "../../src/descriptors/ledger-reader.ts";
import { usesOf } from "../../src/descriptors/uses.ts";
import { newJob } from "../../src/jobs/new-job.ts";
import { planReplay } from "../../src/jobs/replay/replay-plan.ts";
import { RecountWorld } from "./recount-world.ts";

const ORDER = { actor: "ann", reason: "r" };

/** Ten records under revision 1, five under revision 2, which decodes by version 7. */
async function world(): Promise<RecountWorld> {
  const made = new RecountWorld();
  const append = (records: number) => {
    for (let index = 0; index < records; index += 1) made.log.append(0, `k${index}`, "v");
  };
  append(10);
  await made.start();
  await made.flow();
  await made.crash();
  await made.start({ worstLagMs: 1, body: "original" });
  append(5);
  await made.flow();
  return made;
}

async function decodesBy7({ plane: { control } }: RecountWorld, revision: number): Promise<void> {
  const name = recordNames.revision("articles", revision);
  const { definition, ...rest } = (await readRecord(control, name, RevisionRecord))?.value ?? {};
  if (definition === undefined) throw new Error(`no revision ${revision}`);
  const descriptor = { subject: "s", version: 7, message: "t.M" };
  await updateRecord(control, name, RevisionRecord, (present) => ({
    ...(present ?? { verdict: "" }),
    ...rest,
    definition: { ...definition, descriptor },
  }));
}

async function spans(made: RecountWorld, decodedBy = 7) {
  const { partitions } = await planReplay({ service: () => made.service }, made.store, "articles", { decodedBy });
  return partitions.map(({ from, to }) => [from, to]);
}

/** A job that is stored as one that another process has run, or not yet. */
async function stored(made: RecountWorld, kind: JobKind, from: number, to: number, startedAtMs: number | undefined) {
  const ranges = [{ partition: 0, from, to }];
  const entry: JobEntry = {
    id: `${kind}-${(await made.store.index("articles")).length}`,
    kind,
    createdAtMs: 1,
    ended: true,
    ranges,
  };
  await made.store.admit("articles", entry);
  const spec = { family: "versioned" };
  const plan = { revision: 2, spec, partitions: ranges, rates: {}, applies: true };
  const job = newJob(entry, plan, { source: "articles", request: {}, order: ORDER, audit: "a" });
  await made.store.create({ ...job, state: startedAtMs === undefined ? "queued" : "cancelled", startedAtMs });
}

describe("what a descriptor version decoded", () => {
  it("is what live reading did under it, within what the log holds", async () => {
    const made = await world();
    await decodesBy7(made, 2);
    expect([await spans(made), await spans(made, 8)]).toEqual([[[10, 15]], []]);
    made.log.deleteBelow(0, 12);
    expect(await spans(made)).toEqual([[12, 15]]);
  });

  it("is the whole range of a replay that was killed, whatever it had stored", async () => {
    const made = await world();
    const ranges = [{ partition: 0, from: 2, to: 8 }];
    const rates = { recordsPerSecond: 1 };
    const { job } = await made.jobs.submit("replay", "articles", { ranges, rates }, ORDER);
    await made.clock.advance(1_500);
    made.killJobs();
    const [stands] = (await made.store.read(job.id)).partitions;
    expect(stands?.next).toBeLessThan(8);
    await decodesBy7(made, 2);
    expect(await spans(made)).toEqual([
      [2, 8],
      [10, 15],
    ]);
  });

  it("counts redrives and cancelled replays, and neither what has not started nor what applies nothing", async () => {
    const made = await world();
    await decodesBy7(made, 2);
    await stored(made, "redrive", 1, 3, 5);
    await stored(made, "replay", 4, 5, 5);
    await stored(made, "replay", 6, 7, undefined);
    await stored(made, "trial", 7, 9, 5);
    expect(await spans(made)).toEqual([
      [1, 3],
      [4, 5],
      [10, 15],
    ]);
  });

  it("is in the ledger, beside the rows, and every answer's cursor leads to the rest", async () => {
    const made = await world();
    await decodesBy7(made, 2);
    for (let count = 0; count < 195; count += 1) await stored(made, "replay", count % 10, 10, 5);
    const reader = new LedgerReader(made.plane.control);
    const few = await reader.read("articles", undefined, undefined);
    expect(few.rows).toMatchObject([
      { from: 0, until: 10, revision: 1, descriptor: undefined },
      { from: 10, revision: 2, descriptor: { version: 7 } },
    ]);
    const descriptor = { version: 7 };
    expect(few.jobs[0]).toMatchObject({ kind: "replay", from: 0, until: 10, revision: 2, descriptor });
    expect([few.jobs.length, few.next]).toEqual([195, undefined]);
    // They all begin where the second row does: the page ends among them.
    for (let count = 0; count < 5; count += 1) await stored(made, "redrive", 10, 20, 5);
    const page = await reader.read("articles", undefined, undefined);
    const rest = await reader.read("articles", undefined, page.next);
    expect([page.rows.length, page.jobs.length, rest.rows.length, rest.jobs.length]).toEqual([2, 198, 0, 2]);
    expect(new Set([...page.jobs, ...rest.jobs].map(({ job }) => job)).size).toBe(200);
    expect(rest.next).toBeUndefined();
    expect((await reader.read("articles", 1, undefined)).rows).toEqual([]);
    await expect(reader.read("articles", undefined, "0-10")).rejects.toMatchObject({ code: "CURSOR_UNKNOWN" });
  });

  it("is needed as long as the log holds what a job wrote with it", async () => {
    const made = await world();
    await decodesBy7(made, 2);
    await stored(made, "replay", 2, 8, 5);
    const jobs = async (logStart: number) => {
      const uses = await usesOf({ control: made.plane.control, logStart: () => logStart }, "s", 7);
      return uses.filter(({ place }) => place.startsWith("job "));
    };
    expect(await jobs(0)).toEqual([{ place: "job replay-0", text: "partition 0, offsets 2 to 8, revision 2" }]);
    expect(await jobs(8)).toEqual([]);
    const ranges = [{ partition: 0, from: 0, to: 2 }];
    const { job } = await made.jobs.submit("replay", "articles", { ranges, rates: { recordsPerSecond: 1 } }, ORDER);
    expect(await jobs(15)).toEqual([
      { place: `job ${job.id}`, text: expect.stringMatching(/^a replay that is (queued|running), revision 2$/) },
    ]);
  });
});
