import type { FileValues } from "./schema.ts";
import { formatBytes, formatDuration } from "./units.ts";
import type { LimitName } from "./limits.ts";
import { LIMITS } from "./limits.ts";

/** What must hold between two limits, and why. `low` times `factor` must not exceed `high`; equal only where `orEqual`. */
export interface LimitRelation {
  readonly low: LimitName;
  readonly factor?: number;
  readonly orEqual: boolean;
  readonly high: LimitName;
  readonly why: string;
}

/** Relations between limits. A start that breaks one is refused; nothing is corrected silently. */
export const RELATIONS: readonly LimitRelation[] = [
  {
    low: "heartbeatInterval",
    factor: 3,
    orEqual: false,
    high: "sessionTimeout",
    why: "two lost heartbeats must not cost the partitions",
  },
  {
    low: "fetchWait",
    orEqual: true,
    high: "heartbeatInterval",
    why: "an idle fetch loop heartbeats between two fetches",
  },
  {
    low: "sessionTimeout",
    orEqual: true,
    high: "rebalanceTimeout",
    why: "a rebalance waits at least for the sessions",
  },
  { low: "commitEvery", orEqual: false, high: "drainTimeout", why: "a drain ends with a commit" },
  { low: "retryInitial", orEqual: true, high: "retryMax", why: "waits grow" },
  {
    low: "fetchBytesPerPartition",
    orEqual: true,
    high: "fetchBytes",
    why: "one answer carries at least one partition",
  },
  { low: "fetchBytes", orEqual: true, high: "inFlightBytes", why: "one answer must fit into the budget" },
  { low: "sourceFloorBytes", orEqual: true, high: "inFlightBytes", why: "a floor is a share of the budget" },
];

/** A fault of {@link limitFaults}. */
export interface RelationFault {
  readonly path: string;
  readonly found: string;
  readonly right: string;
}

/** Checks {@link RELATIONS}, and that the sources' floors fit into the budget. Limits that are faulty already are left out. */
export function limitFaults(
  limits: FileValues["limits"],
  sources: number,
  isFaulty: (name: LimitName) => boolean,
): readonly RelationFault[] {
  const faults = RELATIONS.flatMap((relation) => {
    if (isFaulty(relation.low) || isFaulty(relation.high)) return [];
    const low = limits[relation.low] * (relation.factor ?? 1);
    const high = limits[relation.high];
    if (low < high || (relation.orEqual && low === high)) return [];
    return [
      {
        path: `limits.${relation.low}`,
        found: `${spell(relation.low, limits[relation.low])} does not go with ${relation.high} ${spell(relation.high, high)}`,
        right: `${relationText(relation)}: ${relation.why}`,
      },
    ];
  });
  const floors = sources * limits.sourceFloorBytes;
  if (floors <= limits.inFlightBytes || isFaulty("inFlightBytes") || isFaulty("sourceFloorBytes")) return faults;
  const found = `${spell("inFlightBytes", limits.inFlightBytes)} is less than ${sources} sources × sourceFloorBytes ${spell("sourceFloorBytes", limits.sourceFloorBytes)}`;
  return [
    ...faults,
    { path: "limits.inFlightBytes", found, right: `allow at least ${formatBytes(floors)}, or lower sourceFloorBytes` },
  ];
}

/** A relation as one line: `heartbeatInterval × 3 < sessionTimeout`. */
export function relationText({ low, factor, orEqual, high }: LimitRelation): string {
  return `${low}${factor === undefined ? "" : ` × ${factor}`} ${orEqual ? "≤" : "<"} ${high}`;
}

/** A limit's value as the file spells it. */
export function spell(name: LimitName, value: number): string {
  const { unit } = LIMITS[name];
  if (unit === "ms") return formatDuration(value);
  return unit === "bytes" ? formatBytes(value) : `${value}`;
}
