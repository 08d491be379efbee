import { afterAll } from "vitest";
import { kinds } from "../../consumers/index.ts";
import type { App } from "../../routes/index.ts";
import { AuditLog } from "../../src/audit/audit-log.ts";
import { systemClock } from "../../src/clock.ts";
import { readRecord } from "../../src/control/json-record.ts";
import { SourceRecord, recordNames } from "../../src/control/records.ts";
import type { SourceSeed } from "../../src/core/source.ts";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { createDescriptorJudge } from "../../src/decoding/descriptor-judge.ts";
import { DefinitionStore, type InForce } from "../../src/definitions/definition-store.ts";
import { FileSources } from "../../src/definitions/file-sources.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { DescriptorService } from "../../src/descriptors/descriptor-service.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { SourceService } from "../../src/fleet/source-service.ts";
import { Verdicts } from "../../src/fleet/verdicts.ts";
import { SourceReader } from "../../src/queries/source-queries.ts";
import { testApp } from "../routes/support/app.ts";
import { FakeLog } from "../support/fake-log.ts";
import { FakeRecordSource } from "../support/fake-record-source.ts";
import { KeptLetters, definition } from "../support/fleet-world.ts";
import { serviceParts } from "../support/service-parts.ts";
import { silent } from "../support/silent.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

/** One thread for a file's tests: starting it from the sources takes longer than most of them. */
const judge = createDescriptorJudge(systemClock);
afterAll(() => judge.close());

/** What {@link Instance.call} can be told beside method and address. */
interface Inject {
  readonly payload?: object | string | Buffer;
  readonly headers?: Record<string, string>;
}
type Answer = Awaited<ReturnType<App["inject"]>>;

const backoff = { initialMs: 100, maxMs: 1_000 };

/** What several instances share: the store and the log. */
export class Deployment {
  readonly plane = new MemoryPlane();
  readonly clock = new ManualClock();
  readonly log = new FakeLog(2);
}

/** One instance: registry and fleet over HTTP, without a broker. Descriptors are compiled in their thread as in earnest. */
export class Instance {
  readonly deployment: Deployment;
  readonly sources: FakeRecordSource[] = [];
  readonly letters = new KeptLetters();
  readonly fleet: Fleet;
  readonly service: DescriptorService;
  app: App | undefined;

  constructor(deployment: Deployment, seeds: readonly SourceSeed[] = []) {
    this.deployment = deployment;
    const { plane, clock } = deployment;
    const checks = createDescriptorChecks();
    const catalog = new DescriptorCatalog(plane.control, (files) => checks.digest(files));
    const descriptor = (subject: string, version: number) => catalog.get(subject, version);
    const dependencies = { control: plane.control, compiler: createDecoderCompiler(), kinds, descriptor };
    const definitions = new DefinitionStore(dependencies, { catalog, kinds, builtinSubjects: new Set() });
    const verdicts = (name: string) => new Verdicts(name, dependencies);
    this.fleet = new Fleet({
      definitions,
      catalog,
      builtins: [],
      seeds,
      open: (inForce, before) => Promise.resolve(this.#open(inForce, before, verdicts(inForce.definition.name))),
      backoff,
      follow: { everyMs: 500, drainMs: 1_000 },
      clock,
      logger: silent,
    });
    this.service = new DescriptorService({
      catalog,
      judge,
      audit: new AuditLog(plane.control, clock, silent),
      clock,
      control: plane.control,
      fleet: this.fleet,
      sources: new SourceReader(this.fleet, clock, 1_000, new FileSources(() => [])),
      definitions: async () => (await definitions.list()).map((inForce) => inForce.definition),
    });
  }

  #open(inForce: InForce, before: SourceService | undefined, verdicts: Verdicts): SourceService {
    const { plane, clock, log } = this.deployment;
    const source = new FakeRecordSource(log);
    this.sources.push(source);
    const kept = before === undefined ? {} : { tally: before.parts.tally };
    const timings = { commitEveryMs: 100, boundsEveryMs: 200, sessionTimeoutMs: 30_000 };
    const { letters } = this;
    return new SourceService(
      serviceParts({ inForce, source, plane, clock, letters, verdicts, backoff, timings, ...kept }),
    );
  }

  /** Serves the API. */
  async serve(): Promise<this> {
    const { app, plane } = await testApp({});
    plane.descriptors = this.service;
    this.app = app;
    return this;
  }

  async call(method: "GET" | "POST" | "PUT" | "DELETE", url: string, more: Inject = {}): Promise<Answer> {
    if (this.app === undefined) throw new Error("the instance does not serve");
    return this.app.inject({ method, url, ...more });
  }

  /** Registers one file as `a.proto`. */
  async register(subject: string, text: string, message?: string): Promise<Answer> {
    const payload = { files: { "a.proto": text }, ...(message === undefined ? {} : { message }) };
    return this.call("POST", `/v1/descriptors/${subject}/versions`, { payload });
  }

  /** Lets what is due happen, step by step. */
  async run(steps = 20): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      for (const source of this.sources) source.poll();
      await this.deployment.clock.advance(100);
      await settle();
    }
  }

  async tag(source: string): Promise<string> {
    const record = await readRecord(this.deployment.plane.control, recordNames.source(source), SourceRecord);
    return `"${encodeURIComponent(record?.tag ?? "")}"`;
  }
}

/** A source of documents that decodes a registered subject. */
export function protobufSeed(subject: string, message: string): SourceSeed {
  return {
    ...definition,
    worstLagMs: 1_000,
    format: "protobuf",
    descriptor: { subject, message },
    mapping: { id: [1] },
  };
}
