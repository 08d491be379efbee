/** What a caller takes for healthy. */
export interface IngestLimits {
  /** Undefined: lag only has to be known. */
  readonly maxLagSeconds?: number;
  /** Stopped partitions of one source. */
  readonly maxStopped: number;
  /** Undefined: every source. */
  readonly source?: string;
}

/** Why a source is outside a caller's limits. */
export const INGEST_REASONS = ["no-quorum", "lag-unknown", "lag-above-limit", "stopped", "not-started"] as const;

/** One reason, with a stable word for its cause and the partitions that it is about; none: the whole source. */
export interface IngestReason {
  readonly reason: (typeof INGEST_REASONS)[number];
  readonly cause: string;
  readonly partitions: readonly number[];
}

/** One source held against a caller's limits. */
export interface SourceIngestHealth {
  readonly source: string;
  readonly healthy: boolean;
  readonly stopped: number;
  /** Partitions run by this process that wait for the store, the broker or their log; they count by their lag. */
  readonly holding: readonly number[];
  readonly reasons: readonly IngestReason[];
}

/** Every source held against a caller's limits. While the service starts, not every source is known yet. */
export interface IngestHealth {
  readonly healthy: boolean;
  readonly phase: "starting" | "serving" | "draining";
  readonly measuredAt: number;
  readonly sources: readonly SourceIngestHealth[];
}
