import { BarrierService } from "../barriers/barrier-service.ts";
import { systemClock } from "../clock.ts";
import type { StreamsConfig } from "../config/index.ts";
import type { FileSources } from "../definitions/file-sources.ts";
import { ExplainService } from "../explain/explain-service.ts";
import { type DecodingParts, wireDescriptors } from "./descriptors.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { GapLedger } from "../gaps/gap-ledger.ts";
import { GapReader } from "../gaps/gap-reader.ts";
import { IngestJudge } from "../lag/ingest-health.ts";
import { readAnswersNeeded } from "../kv/quorum.ts";
import { LetterService } from "../letters/letter-service.ts";
import type { InstanceRegistry } from "../fleet/instance-registry.ts";
import { LagService } from "../lag/lag-service.ts";
import { DefinitionService } from "../operators/definition-service.ts";
import { EpochService } from "../operators/epoch-service.ts";
import { type OperatorParts, PauseService } from "../operators/pause-service.ts";
import { RepairService } from "../operators/repair-service.ts";
import { ResumeService } from "../operators/resume-service.ts";
import type { ControlPlane } from "../ports/control-plane.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { LetterReader } from "../ports/letters.ts";
import type { Logger } from "../ports/logger.ts";
import { CounterReader } from "../queries/counter-queries.ts";
import { DocumentReader } from "../queries/document-queries.ts";
import { SourceReader } from "../queries/source-queries.ts";
import type { JobCommands } from "../ports/jobs.ts";

/** What the HTTP edge's services are built from. */
export interface ControlPlaneParts {
  readonly jobs: JobCommands;
  readonly audit: AuditLog;
  readonly instances: InstanceRegistry;
  readonly config: StreamsConfig;
  readonly plane: KvPlane;
  readonly decoding: DecodingParts;
  readonly fleet: Fleet;
  readonly file: FileSources;
  readonly letters: LetterReader;
  readonly logger: Logger;
}

/** Builds what the HTTP edge asks. */
export function buildControlPlane({
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
}: ControlPlaneParts): ControlPlane {
  const { writeAcks } = config.kv;
  const owners = () => plane.owners();
  const readOwners = readAnswersNeeded(owners().length, writeAcks);
  const operators: OperatorParts = { fleet, control: plane.control, audit, clock: systemClock };
  const sources = new SourceReader(fleet, systemClock, config.limits.drainTimeoutMs, file);
  const lag = new LagService(fleet, systemClock);
  const repairs = new RepairService({ plane, audit, clock: systemClock, logger });
  const documents = new DocumentReader(plane, fleet, systemClock);
  const kvUp = () => owners().filter((owner) => owner.state === "up").length >= writeAcks;
  const ingest = new IngestJudge(fleet, lag, kvUp);
  return {
    health: {
      ready: () => ({ ready: fleet.phase === "serving", phase: fleet.phase, kv: kvUp() ? "up" : "away" }),
      ingest: (limits) => ingest.ingest(limits),
    },
    sources,
    definitions: new DefinitionService(sources, audit),
    lag,
    documents,
    dials: documents,
    counters: new CounterReader(fleet, plane, systemClock),
    pauses: new PauseService(operators),
    resumptions: new ResumeService(operators),
    epochs: new EpochService(operators),
    gaps: new GapReader(new GapLedger(plane.control)),
    audit: operators.audit,
    explain: new ExplainService({
      fleet,
      plane,
      verdicts: decoding.verdicts,
      readOwners,
      clock: systemClock,
    }),
    letters: new LetterService({
      fleet,
      reader: letters,
      plane,
      kinds: decoding.verdicts.kinds,
      clock: systemClock,
    }),
    instances,
    jobs,
    barriers: new BarrierService({ fleet, control: plane.control, clock: systemClock }),
    descriptors: wireDescriptors(decoding, plane, fleet, sources, audit),
    owners: {
      owners,
      writeAcks,
      readOwners,
      repair: (owner, order) => repairs.repair(owner, order),
    },
  };
}
