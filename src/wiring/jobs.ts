import type { AuditLog } from "../audit/audit-log.ts";
import { systemClock } from "../clock.ts";
import type { StreamsConfig } from "../config/index.ts";
import type { JobKind } from "../core/job/job.ts";
import { TrialExecutor } from "../descriptors/trial/trial-executor.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { JobService } from "../jobs/job-service.ts";
import { JobStore } from "../jobs/job-store.ts";
import { RecountExecutor } from "../jobs/recount/recount-executor.ts";
import { ReplayExecutor } from "../jobs/replay/replay-executor.ts";
import { LagService } from "../lag/lag-service.ts";
import { RedriveExecutor } from "../letters/redrive-executor.ts";
import type { JobExecutor } from "../ports/jobs.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { LetterReader } from "../ports/letters.ts";
import type { Logger } from "../ports/logger.ts";
import type { DecodingParts } from "./descriptors.ts";

/** What jobs are built from. */
export interface JobWiring {
  readonly config: StreamsConfig;
  readonly plane: KvPlane;
  readonly fleet: Fleet;
  readonly decoding: DecodingParts;
  readonly letters: LetterReader;
  readonly audit: AuditLog;
  readonly logger: Logger;
}

/** Builds the jobs of this process; nothing runs before `start`. */
export function wireJobs({ config, plane, fleet, decoding, letters, audit, logger }: JobWiring): JobService {
  const { limits } = config;
  const { verdicts, catalog, judge } = decoding;
  const clock = systemClock;
  const recounts = new RecountExecutor({ fleet, clock, verdicts });
  const lag = new LagService(fleet, clock);
  const store = new JobStore(plane.control);
  const executors = new Map<JobKind, JobExecutor>([
    ["recount", recounts],
    ["replay", new ReplayExecutor({ fleet, store, verdicts, lag, recounts, clock })],
    ["redrive", new RedriveExecutor({ fleet, reader: letters, plane, verdicts, clock })],
    ["trial", new TrialExecutor({ fleet, catalog, judge, verdicts, reader: letters })],
  ]);
  return new JobService({
    control: plane.control,
    executors,
    audit,
    clock,
    logger,
    backoff: { initialMs: limits.retryInitialMs, maxMs: limits.retryMaxMs },
    ready: () => fleet.phase === "serving",
    // The embedded plane's directories belong to one process at a time.
    alone: true,
  });
}
