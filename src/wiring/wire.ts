import { randomUUID } from "node:crypto";
import { createDeadLetters, createLetterReader, createRecordSource } from "../../consumers/kafka/index.ts";
import { httpLogger } from "../../routes/edge/http-logger.ts";
import { type App, buildApp } from "../../routes/index.ts";
import { type Access, assertListenAllowed, createAccess, readTokensFile } from "../access/index.ts";
import { systemClock } from "../clock.ts";
import type { SourceSeed, StreamsConfig } from "../config/index.ts";
import type { InForce } from "../definitions/definition-store.ts";
import { BUILTIN_DESCRIPTORS } from "../descriptors/builtin.ts";
import { FileSources } from "../definitions/file-sources.ts";
import { consumerLimits, kafkaConnection, readTls } from "./connections.ts";
import { type DecodingParts, wireDecoding } from "./descriptors.ts";
import { attemptsWithin } from "../fleet/backoff.ts";
import { AuditLog } from "../audit/audit-log.ts";
import { Crossings } from "../fleet/crossings.ts";
import { Fleet } from "../fleet/fleet.ts";
import { predecessorOf, recordMember } from "../fleet/member-record.ts";
import { MemoryBudget } from "../fleet/memory-budget.ts";
import { RecentErrors } from "../fleet/recent-errors.ts";
import { LoopTurns } from "../fleet/loop-turns.ts";
import { SlotMemory } from "../fleet/slot-memory.ts";
import { SourceService } from "../fleet/source-service.ts";
import { SourceSurvey } from "../fleet/source-survey.ts";
import { SourceTally } from "../fleet/source-tally.ts";
import { Verdicts } from "../fleet/verdicts.ts";
import { openEmbeddedPlane } from "../kv/embedded/open.ts";
import { GapLedger } from "../gaps/gap-ledger.ts";
import { CountingLedgers } from "../ledgers/counting-ledgers.ts";
import { InstanceRegistry } from "../fleet/instance-registry.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { buildControlPlane } from "./control-plane.ts";
import { wireJobs } from "./jobs.ts";

/** A client that does not read its answer may hold a closing connection this long. */
const CONNECTIONS_MS = 5_000;

/** Everything that runs, and how it ends. */
export interface Service {
  readonly app: App;
  readonly fleet: Fleet;
  /** Drains the sources, then closes what they stood on, in the order that loses nothing. Never rejects. */
  readonly close: (drainMs: number) => Promise<Closing>;
}

/** How the service ended. */
export interface Closing {
  /** Partitions whose acknowledged work the group does not hold, as `source/partition`; it is read again. */
  readonly uncommitted: readonly string[];
  /** Owners whose process did not come back from its disk and was left to end by itself. */
  readonly hanging: readonly string[];
}

/**
 * Builds the service; the only place that calls constructors of adapters. Nothing listens or consumes yet.
 * @param fileSources the sources that the configuration file names at the moment of the call
 * @throws StreamsError for a configuration that cannot be run; KvFault when another process uses the data
 */
export async function wire(
  config: StreamsConfig,
  logger: Logger,
  release: string,
  fileSources: () => readonly SourceSeed[],
): Promise<Service> {
  const { host, tokensFile, tls } = config.http;
  const access: Access = createAccess(tokensFile === undefined ? [] : await readTokensFile(tokensFile));
  assertListenAllowed(host, access.hasTokens);
  const { limits, kv } = config;
  const plane = await openEmbeddedPlane({
    directories: kv.directories,
    writeAcks: kv.writeAcks,
    limits: { pendingBytes: limits.ownerPendingBytes },
    clock: systemClock,
    logger,
  });
  const decoding = wireDecoding(plane);
  const fleet = buildFleet(config, plane, decoding, logger);
  const file = new FileSources(fileSources);
  const letters = createLetterReader({ ...kafkaConnection(config.broker), clock: systemClock, logger });
  const parts = { id: randomUUID(), release, fleet, control: plane.control, clock: systemClock, logger };
  const instances = new InstanceRegistry(parts);
  const audit = new AuditLog(plane.control, systemClock, logger);
  const jobs = wireJobs({ config, plane, fleet, decoding, letters, audit, logger });
  const controlPlane = buildControlPlane({
    jobs,
    audit,
    instances,
    config,
    plane,
    decoding,
    fleet,
    file,
    letters,
    logger,
  });
  const app = await buildApp({
    controlPlane,
    access,
    logger: httpLogger(logger),
    clock: systemClock,
    limits: { requestBodyBytes: limits.requestBodyBytes },
    release,
    metrics: createMetrics(controlPlane),
    ...(tls === undefined ? {} : { https: readTls(tls) }),
  });
  const close = async (drainMs: number) => {
    await jobs.drain();
    const uncommitted = await fleet.drain(drainMs);
    await instances.stop();
    const cancel = systemClock.after(CONNECTIONS_MS, () => app.server.closeAllConnections());
    await app.close();
    await Promise.all([decoding.judge.close(), letters.close(CONNECTIONS_MS)]);
    cancel();
    await plane.close();
    const hanging = plane.owners().filter(({ reason }) => reason?.code === "OWNER_STALLED");
    return { uncommitted, hanging: hanging.map(({ owner }) => owner) };
  };
  instances.start();
  jobs.start();
  return { app, fleet, close };
}

function buildFleet(config: StreamsConfig, plane: KvPlane, decoding: DecodingParts, logger: Logger): Fleet {
  const { limits } = config;
  const budget = new MemoryBudget(limits.inFlightBytes, limits.sourceFloorBytes);
  const slots = new SlotMemory(limits.slotCacheBytes);
  const turns = new LoopTurns();
  return new Fleet({
    definitions: decoding.definitions,
    catalog: decoding.catalog,
    builtins: BUILTIN_DESCRIPTORS,
    seeds: config.sources,
    open: (inForce, before) => openSource({ config, plane, logger, decoding, budget, slots, turns }, inForce, before),
    backoff: { initialMs: limits.retryInitialMs, maxMs: limits.retryMaxMs },
    follow: { everyMs: limits.boundsEveryMs, drainMs: limits.drainTimeoutMs },
    clock: systemClock,
    logger,
  });
}

interface SourceSurroundings {
  readonly config: StreamsConfig;
  readonly plane: KvPlane;
  readonly logger: Logger;
  readonly decoding: DecodingParts;
  readonly budget: MemoryBudget;
  readonly slots: SlotMemory;
  readonly turns: LoopTurns;
}

async function openSource(
  surroundings: SourceSurroundings,
  inForce: InForce,
  before: SourceService | undefined,
): Promise<SourceService> {
  const { config, plane, decoding, budget, slots, turns } = surroundings;
  const { definition } = inForce;
  const { limits } = config;
  const logger = surroundings.logger.child({ source: definition.name });
  const tally = before?.parts.tally ?? new SourceTally();
  const errors = before?.parts.errors ?? new RecentErrors(systemClock, logger);
  const connection = { ...kafkaConnection(config.broker), clock: systemClock, logger };
  const leaveFor = await predecessorOf(plane.control, definition.name);
  const source = createRecordSource({
    ...connection,
    topic: definition.topic,
    group: definition.group,
    ...consumerLimits(limits),
    onMemberId: (memberId) => {
      recordMember(plane.control, definition.name, memberId).catch((error: unknown) => {
        errors.note({ code: "MEMBER_NOT_RECORDED", text: error instanceof Error ? error.message : String(error) });
      });
    },
    ...(leaveFor === undefined ? {} : { leaveFor }),
  });
  const survey = new SourceSurvey(definition.name, plane, systemClock);
  await survey.refresh(new Set());
  const backoff = { initialMs: limits.retryInitialMs, maxMs: limits.retryMaxMs };
  const letters = createDeadLetters({ ...connection, createMissing: definition.createDeadLetterTopic });
  return new SourceService({
    inForce,
    breaker: {
      run: limits.poisonBreakerRun,
      sharePercent: limits.poisonBreakerShare,
      window: limits.poisonBreakerWindow,
    },
    gaps: new GapLedger(plane.control),
    audit: new AuditLog(plane.control, systemClock, logger),
    ledgers: new CountingLedgers(plane.control),
    slots,
    turns,
    reserveAhead: limits.reserveAhead,
    survey,
    source,
    plane,
    letters,
    verdicts: new Verdicts(definition.name, decoding.verdicts),
    budget,
    backoff,
    disputesMax: attemptsWithin(limits.disputeForMs, backoff),
    clock: systemClock,
    logger,
    errors,
    tally,
    crossings: new Crossings(plane, tally, errors, systemClock),
    timings: {
      commitEveryMs: limits.commitEveryMs,
      boundsEveryMs: limits.boundsEveryMs,
      sessionTimeoutMs: limits.sessionTimeoutMs,
    },
  });
}
