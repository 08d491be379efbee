import { afterAll, describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import { systemClock } from "../../src/clock.ts";
import { stepped, type Job } from "../../src/core/job/job.ts";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { createDescriptorJudge } from "../../src/decoding/descriptor-judge.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { TrialExecutor } from "../../src/descriptors/trial/trial-executor.ts";
import type { TrialRequest } from "../../src/descriptors/trial/trial-request.ts";
import { newJob } from "../../src/jobs/new-job.ts";
import { LetterTopic } from "../support/letter-topic.ts";
import { Deployment, Instance, protobufSeed } from "./world.ts";

const judge = createDescriptorJudge(systemClock);
afterAll(() => judge.close());

const proto3 = (body: string) => `syntax = "proto3"; package t; ${body}`;
const V1 = proto3("message M { string id = 1; int64 at = 2; string old = 4; }");
const V2 = proto3("message M { string id = 1; int64 at = 2; string late = 9; reserved 4; }");
const WRONG = proto3("message M { string id = 1; string at = 2; string old = 4; }");

const text = (number: number, value: string) =>
  `${String.fromCharCode(number * 8 + 2)}${String.fromCharCode(value.length)}${value}`;
const AT = "\u0010\u0005";
const GOOD = text(1, "a") + AT + text(9, "x");

/** A source under version 1, with `values` in its log, by partition in turns. */
async function world(values: readonly string[]) {
  const deployment = new Deployment();
  const registrar = await new Instance(deployment).serve();
  await registrar.register("s", V1);
  for (const [index, value] of values.entries()) deployment.log.append(index % 2, value.charAt(2), value);
  const instance = new Instance(deployment, [protobufSeed("s", "t.M")]);
  await instance.fleet.start();
  for (const source of instance.sources) source.rejoin();
  await instance.run();
  await registrar.register("s", V2);
  const { control } = deployment.plane;
  const catalog = new DescriptorCatalog(control, (files) => createDescriptorChecks().digest(files));
  const descriptor = (subject: string, version: number) => catalog.get(subject, version);
  const verdicts = { control, compiler: createDecoderCompiler(), kinds, descriptor };
  const topic = new LetterTopic(() => instance.letters.letters);
  const { fleet } = instance;
  return { deployment, instance, executor: new TrialExecutor({ fleet, catalog, judge, verdicts, reader: topic }) };
}

async function submitted(executor: TrialExecutor, request: TrialRequest): Promise<Job> {
  const plan = await executor.plan("articles", request);
  const entry = { id: "j", kind: "trial", createdAtMs: 0, ended: false, ranges: [] } as const;
  const order = { actor: "a", reason: "r" };
  const job = newJob(entry, plan, { source: "articles", request, order, audit: "0-0" });
  // As it is read from the store.
  const stored: Job = { ...job, spec: JSON.parse(JSON.stringify(job.spec)) };
  return stored;
}

/** Runs a job; `crashes`: another process takes over after each step. */
async function run(executor: TrialExecutor, submittedJob: Job, crashes = false) {
  let job = submittedJob;
  let work = await executor.open(job);
  for (let entry = pending(job); entry !== undefined; entry = pending(job)) {
    const now = entry;
    const after = stepped(now, await work.step(now));
    job = { ...job, partitions: job.partitions.map((other) => (other === now ? after : other)) };
    if (crashes) work = await executor.open(job);
  }
  const result = await work.finish?.(job);
  await work.close();
  return { job, result: JSON.parse(JSON.stringify(result)) };
}

const pending = ({ partitions }: Job) => partitions.find(({ state }) => state === "pending");
const trial = async (executor: TrialExecutor, request: TrialRequest) =>
  (await run(executor, await submitted(executor, request))).result;

describe("a trial", () => {
  it("tells what a registered version knows more and less, and touches nothing", async () => {
    const { executor, deployment } = await world([GOOD, GOOD, text(1, "b") + text(4, "o")]);
    const cells = JSON.stringify([...deployment.log.commits]);
    const result = await trial(executor, { candidate: { subject: "s", version: 2 } });
    expect(result).toMatchObject({
      records: 3,
      inForce: { failed: 0, failureRate: 0, unknownFields: [{ path: "9", count: 2 }] },
      candidate: { failed: 0, failureRate: 0, unknownFields: [{ path: "4", count: 1 }] },
      fields: { gained: [{ path: "9", count: 2 }], lost: [{ path: "4", count: 1 }] },
      deadLetters: { records: 0, complete: true },
    });
    expect(result.fields.differences).toMatchObject([
      { code: "FIELD_REMOVED", type: "t.M", number: 4, before: "string old" },
    ]);
    expect(JSON.stringify([...deployment.log.commits])).toBe(cells);
  });

  it("finds a wrong type before it is registered: every record by code and offset, without what it holds", async () => {
    const { executor } = await world([GOOD, GOOD, text(1, "b")]);
    const result = await trial(executor, { candidate: { files: { "a.proto": WRONG } } });
    expect(result.inForce).toMatchObject({ failed: 0 });
    expect(result.candidate.failed).toBe(2);
    expect(result.candidate.failureRate).toBeCloseTo(2 / 3);
    expect(result.candidate.codes).toMatchObject([
      {
        code: "DECODE_WIRE_TYPE",
        count: 2,
        examples: [
          { partition: 0, offset: "0", path: "2" },
          { partition: 1, offset: "0", path: "2" },
        ],
      },
    ]);
    expect(result.fields.differences).toMatchObject([
      { code: "TYPE_CHANGED", number: 2, before: "int64", after: "string" },
    ]);
  });

  it("judges the present dead letters once a record, by both", async () => {
    const bad = text(1, "a") + text(2, "x");
    const { executor, instance } = await world([GOOD, bad]);
    expect(instance.letters.letters).toHaveLength(1);
    instance.letters.letters.push(...instance.letters.letters);
    const request = { candidate: { files: { "a.proto": WRONG } }, last: 1 } as const;
    const job = await submitted(executor, request);
    instance.letters.letters.push(...instance.letters.letters.map((letter) => ({ ...letter, offset: 77 })));
    const { result } = await run(executor, job);
    expect(result.deadLetters).toMatchObject({ records: 1, inForce: { failed: 1 }, candidate: { failed: 0 } });
    expect(await trial(executor, { ...request, deadLetters: false })).not.toHaveProperty("deadLetters");
  });

  it("reads the last records of each partition, and all of them again where another process takes over", async () => {
    const { executor } = await world(Array.from({ length: 40 }, () => GOOD));
    const job = await submitted(executor, { candidate: { subject: "s", version: 2 }, last: 15 });
    expect(job.partitions).toMatchObject([
      { partition: 0, from: 5, to: 20 },
      { partition: 1, from: 5, to: 20 },
    ]);
    const calm = await run(executor, job);
    const crashed = await run(executor, job, true);
    expect(calm.result).toMatchObject({ records: 30 });
    expect(crashed.result).toEqual(calm.result);
  });

  it.each<[string, TrialRequest, string]>([
    ["files that do not compile", { candidate: { files: { "a.proto": "message {" } } }, "DESCRIPTOR_INVALID"],
    ["a version that is not there", { candidate: { subject: "s", version: 9 } }, "DESCRIPTOR_UNKNOWN"],
    ["a mapping to no field", { candidate: { subject: "s", version: 2 }, mapping: { id: [4] } }, "MAPPING_INVALID"],
    [
      "files that are too large to keep",
      { candidate: { files: { "a.proto": `${V1} // ${"x".repeat(262_144)}` } } },
      "DESCRIPTOR_INVALID",
    ],
  ])("is refused: %s", async (_, request, code) => {
    const { executor } = await world([]);
    await expect(executor.plan("articles", request)).rejects.toMatchObject({ code });
  });
});
