import type { AuditLog } from "../audit/audit-log.ts";
import type { BreakerLimits } from "../core/partition/breaker.ts";
import type { Binding } from "../core/topic/binding.ts";
import type { SourceInForce } from "../core/source.ts";
import type { CountingLedgers } from "../ledgers/counting-ledgers.ts";
import type { GapLedger } from "../gaps/gap-ledger.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeadLetters } from "../ports/dead-letters.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";
import type { RecordSource } from "../ports/record-source.ts";
import type { BackoffLimits } from "./backoff.ts";
import type { Crossings } from "./crossings.ts";
import type { FactsReader } from "./facts.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import type { UnrecordedStop } from "./partition-store.ts";
import type { RecentErrors } from "./recent-errors.ts";
import type { Turns } from "./loop-turns.ts";
import type { SlotMemory } from "./slot-memory.ts";
import type { SourceTally } from "./source-tally.ts";
import type { Verdicts } from "./verdicts.ts";

/** What the partitions of one source share under one assignment epoch. */
export interface RunnerContext {
  readonly inForce: SourceInForce;
  readonly epoch: number;
  readonly binding: Binding;
  readonly source: RecordSource;
  readonly plane: KvPlane;
  readonly letters: DeadLetters;
  readonly verdicts: Verdicts;
  readonly facts: FactsReader;
  readonly budget: MemoryBudget;
  readonly backoff: BackoffLimits;
  /** Attempts of a dispute before it stops the partition. */
  readonly disputesMax: number;
  /** When poison is a bad deploy. */
  readonly breaker: BreakerLimits;
  /** What was passed over, and who decided it. */
  readonly gaps: GapLedger;
  readonly audit: AuditLog;
  readonly ledgers: CountingLedgers;
  /** Memory for the slots of counting kinds. */
  readonly slots: SlotMemory;
  /** For what keeps the thread busy for long. */
  readonly turns: Turns;
  /** How many offsets a counting runner reserves beyond what it fetched. */
  readonly reserveAhead: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly errors: RecentErrors;
  readonly tally: SourceTally;
  readonly crossings: Crossings;
  /** Stops of the source's partitions that the store does not have yet; they outlive the assignment. */
  readonly unrecorded: Map<number, UnrecordedStop>;
}
