import type { SourceDefinition, SourceSeed } from "../../../src/core/source.ts";
import { type ErrorCode, StreamsError } from "../../../src/errors.ts";
import type {
  ControlPlane,
  DefinitionView,
  LagView,
  PartitionView,
  SourceView,
} from "../../../src/ports/control-plane.ts";
import type { DocumentView, Provenance } from "../../../src/ports/documents.ts";
import type { RepairOrder } from "../../../src/ports/control-plane.ts";
import type { IngestHealth, IngestLimits } from "../../../src/ports/ingest.ts";
import type { DescriptorCommands } from "../../../src/ports/descriptors.ts";
import type { InstanceView } from "../../../src/ports/instances.ts";
import { FakeBarriers } from "./fake-barriers.ts";
import { FakeDescriptors } from "./fake-descriptors.ts";
import { FakeExplain } from "./fake-explain.ts";
import { FakeCounters } from "./fake-counters.ts";
import { FakeJobs } from "./fake-jobs.ts";
import { FakeLetters } from "./fake-letters.ts";
import { FakeOperators } from "./fake-operators.ts";
import type { OwnerStatus } from "../../../src/ports/kv-plane.ts";

/** 2026-11-30T08:15:00.000Z */
export const NOW = Date.UTC(2026, 10, 30, 8, 15);

export const DEFINITION: SourceDefinition = {
  name: "articles",
  kind: "documents",
  topic: "ysearch.articles",
  group: "ysearch-streams.articles",
  namespace: "articles",
  format: "protobuf",
  framing: "none",
  descriptor: { subject: "ysearch.article", version: 1, message: "ysearch.streams.v1.Article" },
  mapping: { id: [1], title: [3, 1] },
  body: "json",
  startFrom: { timestampMs: NOW },
  worstLagMs: 172_800_000,
  onPoison: "dead-letter",
  deadLetterTopic: "ysearch.articles.dlq",
  createDeadLetterTopic: false,
};

export const PROVENANCE: Provenance = {
  source: "articles",
  partition: 3,
  offset: 1_099_511_627_000,
  topicEpoch: 0,
  revision: 2,
  descriptorVersion: 1,
  timestampMs: NOW,
};

const SOURCE: SourceView = {
  name: "articles",
  kind: "documents",
  topic: "ysearch.articles",
  group: "ysearch-streams.articles",
  namespace: "articles",
  desired: "running",
  observed: "degraded",
  since: NOW,
  reason: "partition 1 is stopped",
  revision: 2,
  drift: true,
  consumer: { state: "running", rebuilds: 1, cause: "BROKER_LOST", text: "the connection was closed" },
  partitions: {
    unassigned: 0,
    starting: 0,
    verifying: 0,
    running: 1,
    holding: 0,
    paused: 0,
    stopped: 1,
    draining: 0,
  },
  totals: { delivered: 9, written: 7, deadLettered: 1, folded: 1 },
  deadLetters: { DECODE_TRUNCATED: 1 },
  crossings: { sampled: 5, lost: 1 },
  recentErrors: [{ at: NOW, firstAt: NOW, count: 2, code: "BROKER_LOST", text: "the connection was closed" }],
};

const RUNNING: PartitionView = {
  source: "articles",
  partition: 0,
  desired: "running",
  observed: "running",
  since: NOW,
  committed: 10,
  watermark: 12,
  position: 15,
  logStart: 0,
  end: 20,
  inFlight: { batches: 1, records: 3, bytes: 300 },
  oldestUnacknowledged: { offset: 12, ageMs: 40, key: Uint8Array.of(0xff, 0), ackedBy: ["a", "b"] },
  topicEpoch: 0,
  counts: { delivered: 15, written: 12, deadLettered: 0, folded: 0 },
};

const STOPPED: PartitionView = {
  source: "articles",
  partition: 1,
  desired: "running",
  observed: "stopped",
  since: NOW,
  reason: "its position is below the log start",
  inFlight: { batches: 0, records: 0, bytes: 0 },
  topicEpoch: 0,
  stop: {
    code: "OFFSET_BELOW_LOG_START",
    text: "offsets 5 to 9 were deleted before they were read",
    wanted: 5,
    bounds: { logStart: 9, end: 20 },
    lost: { from: 5, to: 9 },
    since: NOW,
    remedy: "resume from log-start and accept the loss",
    page: "docs/stops/BELOW_LOG_START.md",
  },
  hold: { code: "KV_NO_QUORUM", text: "one owner of two is up", since: NOW, attempts: 4 },
  counts: { delivered: 0, written: 0, deadLettered: 0, folded: 0 },
};

const LAG: LagView = {
  measuredAt: NOW,
  partitions: [
    {
      source: "articles",
      partition: 0,
      records: { known: true, value: 8 },
      seconds: { known: true, value: 0.4 },
      timeToLossSeconds: { known: true, value: 86_400 },
      basis: "watermark",
      measuredAt: NOW,
    },
    {
      source: "articles",
      partition: 1,
      records: { known: false, cause: "leader-unavailable" },
      seconds: { known: true, value: Number.NaN },
      timeToLossSeconds: { known: true, value: -4 },
      basis: "none",
      measuredAt: NOW,
    },
  ],
  unknown: [{ source: "bids", cause: "topic-missing", measuredAt: NOW }],
};

const OWNERS: readonly OwnerStatus[] = [
  { owner: "a", state: "up", since: NOW, incarnation: "a-1", pendingBytes: 0, place: "data/a", storedBytes: 4_096 },
  {
    owner: "b",
    state: "down",
    reason: { code: "FLUSH_FAILED", text: "no space left" },
    since: NOW,
    incarnation: "b-2",
    pendingBytes: 77,
  },
];

/** A JSON body whose numbers would change if it were parsed and written again. */
export const DIGITS = '{"big":9007199254740993,"one":1.0,"tail":304250263527210.0}';

/** A control plane of fixed answers, whose state and failures a test sets. Calls that would change something are kept. */
const INSTANCES: readonly InstanceView[] = [
  {
    id: "one",
    release: "1.2.3",
    phase: "serving",
    startedAt: NOW - 60_000,
    seenAt: NOW,
    expiresAt: NOW + 30_000,
    sources: [{ source: "articles", partitions: [0, 3] }],
  },
];

export class FakeControlPlane implements ControlPlane {
  phase: "starting" | "serving" | "draining" = "serving";
  kv: "up" | "away" = "up";
  /** Thrown by every call of sources, lag, documents and owners when set. */
  failure: unknown;
  etag = "tag-1";
  document: DocumentView["body"] = { format: "json", bytes: Buffer.from(DIGITS) };
  provenance = PROVENANCE;
  startFrom: SourceDefinition["startFrom"] = DEFINITION.startFrom;
  /** When set, reads of documents wait for it. */
  wait: Promise<void> | undefined;
  readonly defined: { readonly name: string; readonly definition: SourceDefinition; readonly ifMatch: string }[] = [];
  readonly created: SourceSeed[] = [];
  readonly read: { readonly namespace: string; readonly id: string }[] = [];

  readonly health = {
    ready: () => ({ ready: this.phase === "serving", phase: this.phase, kv: this.kv }),
    ingest: (limits: IngestLimits): IngestHealth => {
      this.judged.push(limits);
      return this.#known(limits.source ?? "articles", { ...this.ingestHealth, phase: this.phase });
    },
  };
  readonly judged: IngestLimits[] = [];
  ingestHealth: IngestHealth = { healthy: true, phase: "serving", measuredAt: NOW, sources: [] };

  readonly sources = {
    list: () => this.#answer([SOURCE]),
    get: (name: string) => this.#known(name, SOURCE),
    definition: (name: string) => this.#known(name, this.#definition(2)),
    partitions: (name: string) => this.#known(name, [RUNNING, STOPPED]),
    partition: (name: string, partition: number): PartitionView => {
      const found = this.#known(name, [RUNNING, STOPPED])[partition];
      if (found === undefined) throw new StreamsError("PARTITION_UNKNOWN", `there is no partition ${partition}`);
      return found;
    },
  };

  readonly definitions = {
    define: async (
      name: string,
      definition: SourceDefinition,
      ifMatch: string,
      actor: string,
    ): Promise<DefinitionView> => {
      this.definers.push(actor);
      this.#known(name, undefined);
      if (ifMatch !== this.etag) throw new StreamsError("PRECONDITION_FAILED", "the definition has changed");
      this.defined.push({ name, definition, ifMatch });
      this.etag = "tag-2";
      return { definition, revision: 3, etag: this.etag };
    },
    create: async (seed: SourceSeed, actor: string): Promise<DefinitionView> => {
      this.definers.push(actor);
      this.#answer(undefined);
      if (seed.name === SOURCE.name) throw new StreamsError("PRECONDITION_FAILED", "there is a source already");
      this.created.push(seed);
      return { definition: { ...DEFINITION, name: seed.name }, revision: 1, etag: "tag-1" };
    },
  };
  readonly definers: string[] = [];

  /** A test may put the registry itself in its place. */
  descriptors: DescriptorCommands = new FakeDescriptors(() => this.#known("articles", this.#definition(2)));

  readonly lag = { all: () => this.#answer(LAG), ofSource: (name: string) => this.#known(name, LAG) };

  readonly documents = {
    read: async (namespace: string, id: string): Promise<DocumentView> => {
      this.read.push({ namespace, id });
      await this.wait;
      this.#answer(undefined);
      return { namespace, id, body: this.document, provenance: this.provenance, asOf: NOW };
    },
  };

  readonly dials = {
    readDial: async (namespace: string | undefined, id: string): Promise<DocumentView> => {
      const { body, provenance } = await this.documents.read(namespace ?? "dials", id);
      return { namespace: namespace ?? "dials", id, body, provenance, asOf: NOW };
    },
  };

  readonly counters = new FakeCounters();
  readonly jobs = new FakeJobs();

  readonly owners = {
    owners: () => this.#answer(OWNERS),
    writeAcks: 2,
    readOwners: 2,
    repair: async (owner: string, order: RepairOrder) => {
      this.#answer(undefined);
      if (!OWNERS.some((known) => known.owner === owner))
        throw new StreamsError("KV_OWNER_UNKNOWN", `no owner ${owner}`);
      this.repairs.push({ owner, order });
    },
  };
  readonly repairs: { readonly owner: string; readonly order: RepairOrder }[] = [];

  readonly operators = new FakeOperators();
  readonly pauses = this.operators.pauses;
  readonly resumptions = this.operators.resumptions;
  readonly epochs = this.operators.epochs;
  readonly gaps = this.operators.gaps;
  readonly audit = this.operators.audit;
  readonly barriers = new FakeBarriers();
  readonly instances = { list: async () => this.#answer({ asOf: NOW, instances: INSTANCES }) };
  readonly explain = new FakeExplain();
  readonly letters = new FakeLetters();

  /** Forgets what a test set or did. */
  reset(): void {
    this.operators.reset();
    this.judged.length = 0;
    this.barriers.failure = undefined;
    this.ingestHealth = { healthy: true, phase: "serving", measuredAt: NOW, sources: [] };
    this.phase = "serving";
    this.kv = "up";
    this.failure = undefined;
    this.etag = "tag-1";
    this.document = { format: "json", bytes: Buffer.from(DIGITS) };
    this.provenance = PROVENANCE;
    this.startFrom = DEFINITION.startFrom;
    this.wait = undefined;
    this.defined.length = 0;
    this.definers.length = 0;
    this.created.length = 0;
    this.read.length = 0;
  }

  /** Makes every call fail with this code. */
  failWith(code: ErrorCode, extra: Readonly<Record<string, unknown>> = {}): void {
    this.failure = new StreamsError(code, `made to fail with ${code}`, extra);
  }

  #definition(revision: number): DefinitionView {
    const definition = { ...DEFINITION, startFrom: this.startFrom };
    return { definition, revision, etag: this.etag, fileDiffers: ["worstLagMs"] };
  }

  #known<T>(name: string, value: T): T {
    this.#answer(undefined);
    if (name !== "articles") throw new StreamsError("SOURCE_UNKNOWN", `there is no source ${name}`);
    return value;
  }

  #answer<T>(value: T): T {
    if (this.failure !== undefined) throw this.failure;
    return value;
  }
}
