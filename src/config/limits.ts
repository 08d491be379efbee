/**
 * The one table of limits: schema, defaults, documentation and `--print-config` all come from it. A limit that decides a
 * verdict (how large a document may be) is not among them: it must not depend on a file of one instance.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What a limit is counted in. Milliseconds are spelled `20s` in the file, bytes `64MiB`, the others as whole numbers. */
export type LimitUnit = "bytes" | "ms" | "records" | "percent";

/** One row of {@link LIMITS}. Numbers are in `unit`; `min` and `max` are allowed values. */
export interface LimitRow {
  readonly unit: LimitUnit;
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** One line for the operator. */
  readonly meaning: string;
}

/** Every limit by its name in the file. */
export const LIMITS = {
  inFlightBytes: {
    unit: "bytes",
    default: 64 * MIB,
    min: MIB,
    max: 4 * GIB,
    meaning: "Fetched but not yet acknowledged records that one process holds, all sources together.",
  },
  sourceFloorBytes: {
    unit: "bytes",
    default: 2 * MIB,
    min: 64 * KIB,
    max: 256 * MIB,
    meaning: "Share of inFlightBytes that every source keeps however busy the others are.",
  },
  fetchBytes: {
    unit: "bytes",
    default: 32 * MIB,
    min: 64 * KIB,
    max: 128 * MIB,
    meaning: "Most that one answer of one broker may carry.",
  },
  fetchBytesPerPartition: {
    unit: "bytes",
    default: 4 * MIB,
    min: 16 * KIB,
    max: 64 * MIB,
    meaning: "Most that one answer may carry of one partition; a single larger batch still passes, alone.",
  },
  fetchWait: {
    unit: "ms",
    default: 100,
    min: 10,
    max: 5 * SECOND,
    meaning: "How long a broker may wait for records at the tail before it answers empty; a resume waits as long.",
  },
  batchDecompressedBytes: {
    unit: "bytes",
    default: 64 * MIB,
    min: MIB,
    max: GIB,
    meaning: "Largest record batch after decompression; a larger one stops its partition.",
  },
  requestBodyBytes: {
    unit: "bytes",
    default: MIB,
    min: KIB,
    max: 16 * MIB,
    meaning: "Largest body of an HTTP request.",
  },
  ownerPendingBytes: {
    unit: "bytes",
    default: 32 * MIB,
    min: MIB,
    max: GIB,
    meaning: "Writes that may wait for one KV owner; while it has more waiting, further writes wait.",
  },
  slotCacheBytes: {
    unit: "bytes",
    default: 192 * MIB,
    min: MIB,
    max: 16 * GIB,
    meaning:
      "Slots that counting sources keep in memory, all partitions together; others are read back when counted on.",
  },
  reserveAhead: {
    unit: "records",
    default: 100_000,
    min: 1,
    max: 100_000_000,
    meaning: "Offsets that a counting partition reserves beyond what it fetched, while there are more to read.",
  },
  drainTimeout: {
    unit: "ms",
    default: 20 * SECOND,
    min: SECOND,
    max: 10 * MINUTE,
    meaning: "How long a stop may take to write and commit what is in flight.",
  },
  sessionTimeout: {
    unit: "ms",
    default: 10 * SECOND,
    min: SECOND,
    max: 30 * MINUTE,
    meaning:
      "After this long without a heartbeat the broker gives the partitions away; brokers have bounds of their own.",
  },
  heartbeatInterval: {
    unit: "ms",
    default: SECOND,
    min: 100,
    max: MINUTE,
    meaning: "Time between heartbeats to the group's coordinator.",
  },
  rebalanceTimeout: {
    unit: "ms",
    default: 20 * SECOND,
    min: SECOND,
    max: 30 * MINUTE,
    meaning: "How long members may take to rejoin the group when it rebalances.",
  },
  commitEvery: {
    unit: "ms",
    default: SECOND,
    min: 100,
    max: MINUTE,
    meaning: "Time between commits of a partition whose watermark moves.",
  },
  retryInitial: {
    unit: "ms",
    default: 200,
    min: 10,
    max: MINUTE,
    meaning: "First wait of a hold before it tries again; each further wait is longer.",
  },
  retryMax: {
    unit: "ms",
    default: 10 * SECOND,
    min: 100,
    max: 10 * MINUTE,
    meaning: "Longest wait of a hold between two tries.",
  },
  metadataMaxAge: {
    unit: "ms",
    default: 30 * SECOND,
    min: SECOND,
    max: 10 * MINUTE,
    meaning: "How old what is known of the topic's partitions and leaders may be: new partitions are noticed by then.",
  },
  disputeFor: {
    unit: "ms",
    default: 30 * SECOND,
    min: SECOND,
    max: 10 * MINUTE,
    meaning:
      "How long a log that contradicts what was applied is asked again before its partition stops; longer than an election.",
  },
  boundsEvery: {
    unit: "ms",
    default: 2 * SECOND,
    min: 200,
    max: 5 * MINUTE,
    meaning: "Time between two readings of log start and end, from which lag is computed.",
  },
  poisonBreakerRun: {
    unit: "records",
    default: 100,
    min: 2,
    max: 1_000_000,
    meaning: "This many records in a row that cannot be applied stop their partition: a bad deploy, not bad records.",
  },
  poisonBreakerShare: {
    unit: "percent",
    default: 50,
    min: 1,
    max: 100,
    meaning: "Share of poisonBreakerWindow, in percent, that stops the partition when it cannot be applied.",
  },
  poisonBreakerWindow: {
    unit: "records",
    default: 1_000,
    min: 10,
    max: 1_000_000,
    meaning: "Records of one partition, the last that were read, over which poisonBreakerShare is taken.",
  },
} as const satisfies Record<string, LimitRow>;

/** Name of a limit in the file. */
export type LimitName = keyof typeof LIMITS;

/** Limits in force: bytes under their own name, durations in milliseconds under the name with `Ms`. */
export type Limits = {
  readonly [Name in LimitName as (typeof LIMITS)[Name]["unit"] extends "ms" ? `${Name}Ms` : Name]: number;
};

/** Every name, in the order of the table. */
export const LIMIT_NAMES: readonly LimitName[] = Object.keys(LIMITS).filter(isLimitName);

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(LIMITS, name);
}

/** A value for each limit, by its name in the file. */
export function forEachLimit<T>(of: (row: LimitRow, name: LimitName) => T): Record<LimitName, T> {
  const result: Partial<Record<LimitName, T>> = {};
  for (const name of LIMIT_NAMES) result[name] = of(LIMITS[name], name);
  if (!isWhole(result)) throw new TypeError("a limit has no value");
  return result;
}

function isWhole<T>(values: Partial<Record<LimitName, T>>): values is Record<LimitName, T> {
  return LIMIT_NAMES.every((name) => values[name] !== undefined);
}

/** Name of a limit in {@link Limits}. */
export function configName(name: LimitName): string {
  return LIMITS[name].unit === "ms" ? `${name}Ms` : name;
}

/** Limits as the service uses them, from their values by name in the file. */
export function toLimits(values: Readonly<Record<LimitName, number>>): Limits {
  const named = Object.fromEntries(LIMIT_NAMES.map((name): [string, number] => [configName(name), values[name]]));
  if (!isLimits(named)) throw new TypeError("a limit has no value");
  return named;
}

function isLimits(values: Readonly<Record<string, number>>): values is Readonly<Record<string, number>> & Limits {
  return LIMIT_NAMES.every((name) => values[configName(name)] !== undefined);
}
