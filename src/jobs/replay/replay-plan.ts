import { BindingRecord, LedgerRecord, recordNames, RevisionRecord } from "../../control/records.ts";
import { readRecord } from "../../control/json-record.ts";
import type { Rates } from "../../core/job/pace.ts";
import type { Offset } from "../../core/offset.ts";
import { COUNTING_KINDS } from "../../core/source.ts";
import { logOf } from "../../core/topic/binding.ts";
import { StreamsError } from "../../errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { SourceService } from "../../fleet/source-service.ts";
import type { JobPlan } from "../../ports/jobs.ts";
import type { BoundsAnswer } from "../../ports/record-source.ts";
import type { JobStore } from "../job-store.ts";
import { writesOf } from "../job-writes.ts";

/** What of a partition is read again; what is left open reaches to the log's ends. */
export interface ReplayRange {
  readonly partition: number;
  readonly from?: Offset;
  readonly to?: Offset;
}

/** What is to be applied again. Exactly one of the three, or none: all that the log holds. */
export interface ReplayRequest {
  readonly ranges?: readonly ReplayRange[];
  /** Records from the first with the former timestamp up to the first with the latter. */
  readonly timestamps?: { readonly fromMs?: number; readonly toMs?: number };
  /** What this version of the descriptor decoded, by live reading, replays and redrives. */
  readonly decodedBy?: number;
  readonly rates?: Rates;
}

/** Offsets `[from, to)` of a partition. */
interface Span {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
}

type Bounds = ReadonlyMap<number, BoundsAnswer>;

/**
 * Fixes what is read again; `to` is the end of the log at this moment where nothing else is said.
 * @throws StreamsError SOURCE_UNKNOWN, JOB_KIND, JOB_RANGE with the bounds, PARTITION_UNKNOWN; KvFault, SourceFault
 */
export async function planReplay(
  fleet: Pick<Fleet, "service">,
  store: JobStore,
  source: string,
  request: ReplayRequest,
): Promise<JobPlan> {
  const service = fleet.service(source);
  const { inForce } = service.parts;
  if (COUNTING_KINDS.has(inForce.definition.kind)) throw new StreamsError("JOB_KIND", `${source} counts`);
  const bounds = await service.parts.source.bounds();
  const partitions = await spansOf(service, store, request, bounds);
  return {
    revision: inForce.revision,
    spec: { family: "versioned" },
    partitions,
    rates: request.rates ?? {},
    applies: true,
  };
}

async function spansOf(
  service: SourceService,
  store: JobStore,
  { ranges, timestamps, decodedBy }: ReplayRequest,
  bounds: Bounds,
): Promise<readonly Span[]> {
  if (ranges !== undefined) return ranges.map((range) => within(range, bounds));
  if (decodedBy !== undefined) return decodedSpans(service, store, decodedBy, bounds);
  const whole = [...bounds.keys()].toSorted((a, b) => a - b).map((partition) => within({ partition }, bounds));
  if (timestamps === undefined) return whole;
  const { source } = service.parts;
  const { fromMs, toMs } = timestamps;
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) {
    throw new StreamsError("JOB_RANGE", "the time at which it ends is before the one at which it begins");
  }
  const begins = fromMs === undefined ? undefined : await source.offsetsAt(fromMs);
  const ends = toMs === undefined ? undefined : await source.offsetsAt(toMs);
  return whole.map(({ partition, from, to }) => {
    const start = Math.min(Math.max(momentOf(begins, partition) ?? from, from), to);
    return { partition, from: start, to: Math.max(Math.min(momentOf(ends, partition) ?? to, to), start) };
  });
}

/** Where a moment is, where one was asked for. @throws StreamsError BROKER_UNAVAILABLE: a partition without a leader is left out */
function momentOf(found: ReadonlyMap<number, Offset> | undefined, partition: number): Offset | undefined {
  if (found === undefined) return undefined;
  const offset = found.get(partition);
  if (offset === undefined) {
    throw new StreamsError("BROKER_UNAVAILABLE", `partition ${partition} does not say where that moment is`);
  }
  return offset;
}

/** A range as it was asked for, if the log holds it. @throws StreamsError JOB_RANGE, PARTITION_UNKNOWN */
function within({ partition, from, to }: ReplayRange, bounds: Bounds): Span {
  const { logStart, end } = knownBounds(partition, bounds);
  const span = { partition, from: from ?? Math.min(logStart, to ?? logStart), to: to ?? end };
  const empty = span.from === span.to;
  if (span.from <= span.to && (empty || (span.from >= logStart && span.to <= end))) return span;
  throw new StreamsError("JOB_RANGE", `partition ${partition} holds [${logStart}, ${end})`, {
    partition,
    bounds: { logStart: `${logStart}`, end: `${end}` },
  });
}

function knownBounds(partition: number, bounds: Bounds): { readonly logStart: Offset; readonly end: Offset } {
  const answer = bounds.get(partition);
  if (answer === undefined) throw new StreamsError("PARTITION_UNKNOWN", `there is no partition ${partition}`);
  if (!answer.known) throw new StreamsError("BROKER_UNAVAILABLE", `partition ${partition}: ${answer.text}`);
  return answer;
}

/** What a version decoded and the log still holds: ledger rows, and what jobs under it have written, or may have. */
async function decodedSpans(
  service: SourceService,
  store: JobStore,
  version: number,
  bounds: Bounds,
): Promise<readonly Span[]> {
  const { control } = service.parts.plane;
  const { name } = service;
  const versions = new Map<number, number | undefined>();
  const versionOf = async (revision: number) => {
    if (!versions.has(revision)) {
      const record = await readRecord(control, recordNames.revision(name, revision), RevisionRecord);
      versions.set(revision, record?.value.definition.descriptor?.version);
    }
    return versions.get(revision);
  };
  const binding = (await readRecord(control, recordNames.binding(name), BindingRecord))?.value;
  const wrote = await writesOf(store, name);
  const spans: Span[] = [];
  for (const partition of [...bounds.keys()].toSorted((a, b) => a - b)) {
    const { logStart, end } = knownBounds(partition, bounds);
    const ledger = recordNames.ledger(name, partition, binding === undefined ? 0 : logOf(binding));
    const rows = (await readRecord(control, ledger, LedgerRecord))?.value.rows ?? [];
    const writes = wrote.filter((write) => write.partition === partition);
    for (const { from, until, revision } of [...rows, ...writes]) {
      if ((await versionOf(revision)) !== version) continue;
      spans.push({ partition, from: Math.max(from, logStart), to: Math.min(until ?? end, end) });
    }
  }
  return united(spans.filter(({ from, to }) => from < to));
}

/** Spans that touch or overlap become one. */
function united(spans: readonly Span[]): readonly Span[] {
  const sorted = spans.toSorted((a, b) => a.partition - b.partition || a.from - b.from);
  const result: Span[] = [];
  for (const span of sorted) {
    const last = result.at(-1);
    if (last?.partition === span.partition && span.from <= last.to) {
      result[result.length - 1] = { ...last, to: Math.max(last.to, span.to) };
    } else result.push(span);
  }
  return result;
}
