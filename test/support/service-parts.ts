import { AuditLog } from "../../src/audit/audit-log.ts";
import { Crossings } from "../../src/fleet/crossings.ts";
import { MemoryBudget } from "../../src/fleet/memory-budget.ts";
import { RecentErrors } from "../../src/fleet/recent-errors.ts";
import type { SourceParts } from "../../src/fleet/source-service.ts";
import { SourceSurvey } from "../../src/fleet/source-survey.ts";
import { SourceTally } from "../../src/fleet/source-tally.ts";
import { SlotMemory } from "../../src/fleet/slot-memory.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { GapLedger } from "../../src/gaps/gap-ledger.ts";
import { silent } from "./silent.ts";

/** What a test decides of a source; the rest follows from it or has a usual value. */
type Given = Pick<SourceParts, "inForce" | "plane" | "clock" | "source" | "letters" | "verdicts"> &
  Partial<SourceParts>;

/** Parts of a source over fakes. */
export function serviceParts(given: Given): SourceParts {
  const { plane, clock, inForce, logger = silent } = given;
  const errors = new RecentErrors(clock, logger);
  const tally = given.tally ?? new SourceTally();
  return {
    survey: new SourceSurvey(inForce.definition.name, plane, clock),
    budget: new MemoryBudget(1_000_000, 1_000),
    backoff: { initialMs: 100, maxMs: 1_000 },
    disputesMax: 15,
    breaker: { run: 100, sharePercent: 100, window: 1_000 },
    gaps: new GapLedger(plane.control),
    audit: new AuditLog(plane.control, clock, logger),
    ledgers: new CountingLedgers(plane.control),
    slots: new SlotMemory(1_000_000),
    turns: { next: () => Promise.resolve() },
    reserveAhead: 5,
    logger,
    errors,
    tally,
    crossings: new Crossings(plane, tally, errors, clock),
    timings: { commitEveryMs: 1_000, boundsEveryMs: 2_000, sessionTimeoutMs: 30_000 },
    ...given,
  };
}
