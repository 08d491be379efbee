import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import { letterRecord, readLetter } from "../../consumers/kafka/dead-letters/letter.ts";
import type { Job } from "../../src/core/job/job.ts";
import { addReceipts, EMPTY_RECEIPT, stepped } from "../../src/core/job/job.ts";
import { newJob } from "../../src/jobs/new-job.ts";
import { RedriveExecutor } from "../../src/letters/redrive-executor.ts";
import type { RedriveRequest } from "../../src/letters/redrive-request.ts";
import { LETTER_ATTEMPTS_MAX, RedriveWork } from "../../src/letters/redrive-work.ts";
import type { DeadLetter } from "../../src/ports/dead-letters.ts";
import type { DecoderCompiler } from "../../src/ports/decoder.ts";
import type { StoredLetter } from "../../src/ports/letters.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { FleetWorld, stubCompiler } from "../support/fleet-world.ts";
import { LetterTopic } from "../support/letter-topic.ts";

/** The mapping as it is after it was mended: everything decodes. */
const mended: DecoderCompiler = {
  ...stubCompiler,
  compile: (spec) => ({
    ...stubCompiler.compile(spec),
    decode: (value) => ({ inputs: [], body: { format: "raw", bytes: value } }),
  }),
};

let world = new FleetWorld();
let topic = new LetterTopic(() => world.letters.letters);

beforeEach(() => {
  world = new FleetWorld(2);
  topic = new LetterTopic(() => world.letters.letters);
});

function executor(compiler: DecoderCompiler): RedriveExecutor {
  return new RedriveExecutor({
    fleet: { inForce: () => world.service.parts.inForce, service: () => world.service },
    reader: topic,
    plane: world.plane,
    verdicts: {
      control: world.plane.control,
      compiler,
      kinds,
      descriptor: () => Promise.reject(new Error("no descriptors here")),
    },
    clock: world.clock,
  });
}

async function submitted(request: RedriveRequest = {}, compiler = mended): Promise<{ job: Job; of: RedriveExecutor }> {
  const of = executor(compiler);
  const plan = await of.plan("articles", request);
  const entry = { id: "j", kind: "redrive", createdAtMs: 0, ended: false, ranges: [] } as const;
  const asked = { source: "articles", request, order: { actor: "a", reason: "r" }, audit: "0-0" };
  return { job: newJob(entry, plan, asked), of };
}

/** Runs a job to its end as its runner does; `crashes`: each step is taken twice, as after a crash before its progress was stored. */
async function run(job: Job, of: RedriveExecutor, crashes = false) {
  let work = await of.open(job);
  let total = EMPTY_RECEIPT;
  for (let entry of job.partitions) {
    for (let steps = 0; entry.state === "pending"; steps += 1) {
      expect(steps).toBeLessThan(1_000);
      if (crashes) {
        await work.step(entry);
        work = await of.open(job);
      }
      entry = stepped(entry, await work.step(entry));
    }
    total = addReceipts(total, entry.receipt);
  }
  await work.close();
  const { read, applied, alreadyApplied, superseded, deadLettered, failed } = total;
  expect(applied + alreadyApplied + superseded + deadLettered + failed, "it adds up").toBe(read);
  return { read, applied, alreadyApplied, superseded, deadLettered, failed };
}

async function redrive(request: RedriveRequest = {}, compiler = mended, crashes = false) {
  const { job, of } = await submitted(request, compiler);
  return run(job, of, crashes);
}

const NONE = { read: 0, applied: 0, alreadyApplied: 0, superseded: 0, deadLettered: 0, failed: 0 };

/** A log of poison, `x`, and good records, `.`, under keys of their own, read under a mapping that cannot decode poison. */
async function poisoned(log: string, partition = 0): Promise<void> {
  for (const record of log) {
    const offset = world.log.log(partition).end;
    world.log.append(partition, `k${partition}-${offset}`, record === "x" ? "bad" : "good");
  }
  await world.start();
  await world.clock.advance(3_000);
}

/** What an operator does next: the mapping is mended, which is another revision. */
async function mend(): Promise<void> {
  await world.crash();
  world.compiler = mended;
  await world.start({ body: "original" });
  await world.clock.advance(3_000);
}

describe("a redrive", () => {
  it("applies what a mended mapping can, once: the second finds it applied already", async () => {
    await poisoned("x.xx.");
    await mend();
    expect(await redrive()).toEqual({ ...NONE, read: 3, applied: 3 });
    expect(world.stored("k0-2")).toMatchObject({ text: "bad", offset: 2, revision: 2 });
    expect(await redrive()).toEqual({ ...NONE, read: 3, alreadyApplied: 3 });
    expect(world.letters.letters, "no further letters").toHaveLength(3);
  });

  it("never takes a newer record of its key back, and publishes nothing on the source's topic", async () => {
    world.log.append(0, "K", "bad");
    world.log.append(0, "K", "good");
    world.log.append(0, "T", "bad");
    world.log.append(0, "T", null);
    await poisoned("x");
    await mend();
    const ends = world.log.partitions.map(({ end }) => end);
    expect(await redrive()).toEqual({ ...NONE, read: 3, applied: 1, superseded: 2 });
    expect(world.stored("K")).toMatchObject({ text: "good", offset: 1 });
    expect(world.stored("T"), "the tombstone stands").toBeUndefined();
    expect(world.log.partitions.map(({ end }) => end)).toEqual(ends);
  });

  it("is one letter per origin, by range, code, revision and descriptor version", async () => {
    await poisoned("xxxx");
    world.log.append(1, "other", "bad");
    world.source.poll();
    await world.clock.advance(3_000);
    world.letters.letters.push(...world.letters.letters);
    await mend();
    const read = async (request: RedriveRequest) => (await redrive(request)).read;
    expect(await read({ code: "OTHER" })).toBe(0);
    expect(await read({ revision: 9 })).toBe(0);
    expect(await read({ descriptorVersion: 1 })).toBe(0);
    expect(await read({ ranges: [{ partition: 0, from: 1, to: 3 }] })).toBe(2);
    expect(await read({ ranges: [{ partition: 7 }] })).toBe(0);
    expect(
      await read({
        ranges: [
          { partition: 0, from: 3 },
          { partition: 1, to: 1 },
          { partition: 0, to: 1 },
        ],
      }),
    ).toBe(3);
    expect(await read({ code: "DECODE_TEST", revision: 1, descriptorVersion: 0 })).toBe(5);
    const { job } = await submitted({});
    expect(job.partitions.map(({ partition, from, to }) => [partition, from, to])).toEqual([
      [0, 0, 4],
      [1, 0, 1],
    ]);
  });

  it("takes the letters that were there when it was submitted, under the revision in force then", async () => {
    await poisoned("xx");
    await mend();
    const { job, of } = await submitted();
    const [first] = world.letters.letters;
    if (first === undefined) throw new Error("no letter");
    world.letters.letters.push({ ...first, offset: 0, attempt: 5 }, { ...first, offset: 1_000 });
    await world.crash();
    await world.start({ body: "json" });
    expect(job.revision).toBe(2);
    expect(await run(job, of)).toEqual({ ...NONE, read: 2, applied: 2 });
    expect(world.stored("k0-0")).toMatchObject({ revision: 2 });
  });

  it("that fails makes a letter of the next attempt, until there were enough; then it does nothing", async () => {
    await poisoned("x.x");
    const keys = () => world.letters.letters.map(({ offset, attempt }) => `${offset}#${attempt}`);
    const { firstSeenMs } = world.letters.letters[0] ?? {};
    for (let attempt = 2; attempt <= LETTER_ATTEMPTS_MAX; attempt += 1) {
      await world.clock.advance(1_000);
      expect(await redrive({}, stubCompiler)).toMatchObject({ deadLettered: 2 });
      expect(keys().slice(-2)).toEqual([`0#${attempt}`, `2#${attempt}`]);
      expect(world.letters.letters.at(-1)?.firstSeenMs).toBe(firstSeenMs);
    }
    const before = keys().length;
    for (let round = 0; round < 3; round += 1) {
      expect(await redrive({}, stubCompiler, true)).toEqual({ ...NONE, read: 2, failed: 2 });
    }
    expect(keys()).toHaveLength(before);
    await mend();
    expect(await redrive(), "what was tried often enough is applied when it can be").toEqual({
      ...NONE,
      read: 2,
      applied: 2,
    });
  });

  it("that crashes at every step publishes no attempt twice over, and adds up", async () => {
    await poisoned("xx.x");
    expect(await redrive({}, stubCompiler, true)).toEqual({ ...NONE, read: 3, deadLettered: 3 });
    expect(Math.max(...world.letters.letters.map(({ attempt }) => attempt))).toBe(2);
    expect(await redrive({}, stubCompiler)).toMatchObject({ read: 3, deadLettered: 3 });
    await mend();
    expect(await redrive({}, mended, true)).toEqual({ ...NONE, read: 3, alreadyApplied: 3 });
  });

  it("keeps the size of letters flat over fifty rounds, by the real headers", async () => {
    await poisoned("x");
    const sizes = new Set<number>();
    for (let round = 0; round < 50; round += 1) {
      const [letter] = world.letters.letters;
      if (letter === undefined) throw new Error("no letter");
      const { headers, value, key } = letterRecord({ ...letter, attempt: 1 }, "whole", 5_000);
      sizes.add(headers.reduce((sum, header) => sum + header.name.length + (header.value?.length ?? 0), 0));
      const back = readLetter(headers);
      if (back === undefined) throw new Error("no letter any more");
      world.letters.letters.splice(0, Infinity, { ...back, key, value });
      expect(await redrive({}, stubCompiler)).toMatchObject({ deadLettered: 1 });
      world.letters.letters.shift();
    }
    expect(sizes.size).toBe(1);
  });

  it("waits for the store and the dead-letter topic, and does not lose its place", async () => {
    await poisoned("xx");
    const { job, of } = await submitted({}, stubCompiler);
    const [entry] = job.partitions;
    if (entry === undefined) throw new Error("no partition");
    const work = await of.open(job);
    world.letters.away = true;
    await expect(work.step(entry)).rejects.toMatchObject({ name: "SourceFault" });
    world.letters.away = false;
    expect((await work.step(entry)).receipt).toMatchObject({ read: 2, deadLettered: 2 });
    await mend();
    const next = await submitted();
    world.plane.before = () => {
      throw new KvFault("KV_NO_QUORUM", "one owner");
    };
    await expect(next.of.open(next.job)).rejects.toBeInstanceOf(KvFault);
    world.plane.before = () => {};
    expect(await run(next.job, next.of)).toMatchObject({ applied: 2 });
  });

  it("keeps null keys, null values and odd headers as they are", async () => {
    await poisoned("x");
    const [letter] = world.letters.letters;
    if (letter === undefined) throw new Error("no letter");
    const headers = [
      { name: Uint8Array.of(0xff), value: null },
      { name: Uint8Array.of(0xff), value: Uint8Array.of(0) },
    ];
    world.letters.letters.splice(0, 1, { ...letter, key: null, value: null, headers });
    expect(await redrive()).toMatchObject({ read: 1, deadLettered: 1 });
    expect(world.letters.letters.at(-1)).toMatchObject({
      key: null,
      value: null,
      headers,
      attempt: 2,
      fault: { code: "CONTRACT_KEY_MISSING" },
    });
    world.letters.letters.splice(0, Infinity, { ...letter, value: null });
    expect(await redrive(), "a null value deletes").toMatchObject({ applied: 1 });
  });

  it("fetches what a letter does not carry from the record's own log, and says failed where it is gone or another", async () => {
    await poisoned("xx");
    const value = { bytes: 3, sha256: createHash("sha256").update("bad").digest("hex") };
    const other = { bytes: 3, sha256: createHash("sha256").update("odd").digest("hex") };
    const cut = (letter: DeadLetter, omitted: StoredLetter["omitted"]) =>
      Object.assign({ ...letter }, { value: null, omitted });
    const [first, second] = world.letters.letters;
    if (first === undefined || second === undefined) throw new Error("no letters");
    world.letters.letters.splice(0, 2, cut(first, { value }), cut(second, { value: other }));
    await mend();
    expect(await redrive()).toEqual({ ...NONE, read: 2, applied: 1, failed: 1 });
    expect(world.stored("k0-0")?.text, "not deleted, though its letter has no value").toBe("bad");
    expect(world.stored("k0-1")).toBeUndefined();
    world.log.deleteBelow(0, 2);
    expect(await redrive()).toEqual({ ...NONE, read: 2, failed: 2 });
  });

  it("looks through a large topic in pieces, and says how it would go before", async () => {
    await poisoned("xxx");
    world.letters.letters.push(...Array.from({ length: 30 }, () => world.letters.letters).flat());
    topic.bytes = 4_194_304;
    await mend();
    const { job, of } = await submitted();
    expect(
      job.partitions.map(({ partition }) => partition),
      "not known exactly in time",
    ).toEqual([0, 1]);
    expect(await run(job, of)).toEqual({ ...NONE, read: 3, applied: 3 });
    topic.bytes = 100;
    const small = await submitted({}, stubCompiler);
    const work = await small.of.open(small.job);
    if (!(work instanceof RedriveWork)) throw new Error("another work");
    const cells = world.plane.cells.size;
    expect(await work.sample(0)).toMatchObject({ records: 3, failed: 3 });
    expect([world.plane.cells.size, world.letters.letters.length]).toEqual([cells, 93]);
  });

  it("of a counting kind is refused: it is told to recount", async () => {
    await poisoned("x");
    const { inForce } = world.service.parts;
    const counting = { ...inForce, definition: { ...inForce.definition, kind: "traffic" } } as typeof inForce;
    Object.defineProperty(world.service.parts, "inForce", { value: counting });
    await expect(submitted()).rejects.toMatchObject({ code: "JOB_KIND" });
  });
});
