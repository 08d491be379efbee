import { kinds } from "../../consumers/index.ts";
import { decodeDocumentCell } from "../../src/core/cell.ts";
import { documentKey } from "../../src/core/keys.ts";
import type { SourceDefinition } from "../../src/core/source.ts";
import { originOf } from "../../src/core/version.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { DefinitionStore, type InForce } from "../../src/definitions/definition-store.ts";
import { SlotMemory } from "../../src/fleet/slot-memory.ts";
import { SourceService } from "../../src/fleet/source-service.ts";
import { serviceParts } from "./service-parts.ts";
import { silent } from "./silent.ts";
import { SourceSurvey } from "../../src/fleet/source-survey.ts";
import { Verdicts } from "../../src/fleet/verdicts.ts";
import type { DeadLetter, DeadLetters } from "../../src/ports/dead-letters.ts";
import type { DecoderCompiler } from "../../src/ports/decoder.ts";
import type { Logger } from "../../src/ports/logger.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { FakeLog } from "./fake-log.ts";
import { FakeRecordSource } from "./fake-record-source.ts";
import { ManualClock } from "./manual-clock.ts";
import { MemoryPlane } from "./memory-plane.ts";
import { textInputs } from "./text-inputs.ts";

/** A decoder for which a value of `bad` is poison and everything else is a raw body; counting kinds read fields between bars. */
export const stubCompiler: DecoderCompiler = {
  compileInputs: textInputs,
  compile: () => ({
    descriptorVersion: 0,
    unknownFields: () => new Map(),
    decode: (value) =>
      Buffer.from(value).toString() === "bad"
        ? { code: "DECODE_TEST", text: "poison" }
        : { inputs: [], body: { format: "raw", bytes: value } },
  }),
};

/** Dead letters that are kept, or refused while `away`. */
export class KeptLetters implements DeadLetters {
  readonly letters: DeadLetter[] = [];
  away = false;

  publish(_topic: string, letters: readonly DeadLetter[]): Promise<void> {
    if (this.away)
      return Promise.reject(new SourceFault("broker-unreachable", "the dead-letter topic cannot be reached"));
    this.letters.push(...letters);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export const definition: SourceDefinition = {
  name: "articles",
  kind: "documents",
  topic: "articles",
  group: "ysearch-streams.articles",
  namespace: "articles",
  format: "raw",
  framing: "none",
  mapping: {},
  body: "json",
  startFrom: "earliest",
  worstLagMs: 1,
  onPoison: "dead-letter",
  deadLetterTopic: "articles.dlq",
  createDeadLetterTopic: true,
};

/**
 * One source over fakes: a log and a plane that outlive the process, and a process that can be started, crashed and
 * started again as often as a test likes.
 */
export class FleetWorld {
  readonly clock: ManualClock;
  readonly plane: MemoryPlane;
  readonly letters = new KeptLetters();
  readonly log: FakeLog;
  logger: Logger = silent;
  backoff = { initialMs: 100, maxMs: 1_000 };
  disputesMax = 15;
  batchRecords = 3;
  breaker = { run: 100, sharePercent: 100, window: 1_000 };
  /** Memory for slots, in bytes, of each process. */
  slotBytes = 1_000_000;
  reserveAhead = 5;
  /** What each new process compiles stored revisions with. */
  compiler: DecoderCompiler = stubCompiler;
  source: FakeRecordSource;
  /** Called with the source of each new process before it starts. */
  prepare: (source: FakeRecordSource) => void = () => {};
  #service: SourceService | undefined;

  constructor(partitions = 1, clock = new ManualClock(), plane = new MemoryPlane()) {
    this.clock = clock;
    this.plane = plane;
    this.log = new FakeLog(partitions);
    this.source = new FakeRecordSource(this.log);
  }

  get service(): SourceService {
    if (this.#service === undefined) throw new Error("not started");
    return this.#service;
  }

  /** Starts a process. `change`: what its configuration says differently; put in force like `apply` does. */
  async start(change: Partial<SourceDefinition> = {}): Promise<void> {
    const inForce = await this.#inForce(change);
    this.source = new FakeRecordSource(this.log, this.batchRecords);
    this.prepare(this.source);
    const survey = new SourceSurvey("articles", this.plane, this.clock);
    await survey.refresh(new Set());
    const { plane, letters, backoff, disputesMax, breaker, clock, logger } = this;
    const verdicts = new Verdicts("articles", { ...this.#verdictDependencies(), compiler: this.compiler });
    this.#service = new SourceService(
      serviceParts({
        inForce,
        survey,
        source: this.source,
        plane,
        letters,
        verdicts,
        backoff,
        disputesMax,
        breaker,
        clock,
        logger,
        slots: new SlotMemory(this.slotBytes),
        reserveAhead: this.reserveAhead,
      }),
    );
    this.#service.start();
    await this.clock.advance(0);
  }

  /** SIGKILL: nothing is said to anybody. */
  async crash(): Promise<void> {
    await this.source.stop();
    this.service.revoked(1);
    this.#service = undefined;
  }

  /**
   * The process stops in the middle of what it does, and another is started in its place. What it had in flight goes on later,
   * when it wakes up: nobody told it that its partitions are no longer its own.
   */
  async freeze(): Promise<void> {
    await this.source.stop();
    this.#service = undefined;
  }

  runner(partition = 0) {
    const runner = this.service.runners.get(partition);
    if (runner === undefined) throw new Error(`no runner for ${partition}`);
    return runner;
  }

  stopCode(partition = 0): string | undefined {
    const { phase } = this.runner(partition).state;
    return phase.phase === "stopped" ? phase.stop.code : undefined;
  }

  /** What is stored under an id: body and offset; undefined when there is nothing or a tombstone. */
  stored(id: string): { readonly text: string; readonly offset: number; readonly revision: number } | undefined {
    const cell = this.plane.cells.get(`document/${Buffer.from(documentKey("articles", id)).toString("hex")}`);
    if (cell === undefined) return undefined;
    const { state, body, revision } = decodeDocumentCell(cell.bytes);
    if (state === "deleted") return undefined;
    return { text: Buffer.from(body).toString(), offset: originOf(cell.order).offset, revision };
  }

  #verdictDependencies() {
    const descriptor = () => Promise.reject(new Error("no descriptors here"));
    return { control: this.plane.control, compiler: stubCompiler, kinds, descriptor };
  }

  async #inForce(change: Partial<SourceDefinition>): Promise<InForce> {
    const catalog = new DescriptorCatalog(this.plane.control, (files) => createDescriptorChecks().digest(files));
    const resolve = { catalog, kinds, builtinSubjects: new Set<string>() };
    const store = new DefinitionStore(this.#verdictDependencies(), resolve);
    const [present] = await store.load([{ ...definition, ...(this.plane.records.size === 0 ? change : {}) }]);
    if (present === undefined) throw new Error("nothing was seeded");
    return store.define("articles", { ...present.definition, ...change }, present.etag);
  }
}
