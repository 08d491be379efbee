import { BindingRecord, recordNames, RevisionRecord } from "../../control/records.ts";
import { readRecord } from "../../control/json-record.ts";
import { copyKey } from "../../core/keys.ts";
import { type Binding, logOf, topicEpochOf } from "../../core/topic/binding.ts";
import { closeOpenRow, type CountingLedger, type CountingRow } from "../../core/ledger/counting-ledger.ts";
import { chooseRows, type OffsetRange, type RecountChoice } from "../../core/ledger/recount-choice.ts";
import { planRecount, type RecountRange } from "../../core/ledger/recount.ts";
import { OFFSET_LIMIT, type Offset } from "../../core/offset.ts";
import { decodeCopy } from "../../core/partition/copy.ts";
import type { Rates } from "../../core/job/pace.ts";
import { COUNTING_KINDS } from "../../core/source.ts";
import { StreamsError } from "../../errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { SourceService } from "../../fleet/source-service.ts";
import { CountingLedgers } from "../../ledgers/counting-ledgers.ts";
import type { Clock } from "../../ports/clock.ts";
import type { JobPlan } from "../../ports/jobs.ts";
import type { RecountRangeSpec, RecountSpec } from "../../control/recount-spec.ts";

/** Which part of a partition; offsets that are left open reach to its ends. */
export interface PartitionWish {
  readonly partition: number;
  readonly from?: Offset;
  readonly to?: Offset;
}

/** What is to be counted again. */
export interface RecountRequest {
  /** Absent: every partition, whole. */
  readonly ranges?: readonly PartitionWish[];
  /** Only rows that this version of the descriptor decoded. */
  readonly decodedBy?: number;
  /** Ends the open row first, so that it can be counted again, too. */
  readonly closeOpen?: boolean;
  /** Exchanges nothing: says where the slots differ. */
  readonly compareOnly?: boolean;
  /** Takes what is possible, where the log has lost some of it. */
  readonly partly?: boolean;
  readonly rates?: Rates;
}

/** What a recount is planned from. */
export interface RecountParts {
  readonly fleet: Pick<Fleet, "service">;
  readonly clock: Clock;
}

/** `recount` takes rows that are there; `replay` also counts, whole, what no row covers, and compares the rows. */
type Purpose = "recount" | "replay";

/**
 * Fixes what is counted again, and allots the numbers of the rows that it is counted into.
 * @throws StreamsError SOURCE_UNKNOWN, JOB_KIND, JOB_RANGE, HISTORY_GONE, RECOUNT_BEHIND, PARTITION_UNKNOWN; KvFault, SourceFault
 */
export async function planRecountJob(
  { fleet, clock }: RecountParts,
  source: string,
  request: RecountRequest,
  purpose: Purpose,
): Promise<JobPlan> {
  const service = fleet.service(source);
  const { inForce, plane } = service.parts;
  if (!COUNTING_KINDS.has(inForce.definition.kind)) {
    throw new StreamsError("JOB_KIND", `${source} holds versions, and is replayed`);
  }
  const binding = (await readRecord(plane.control, recordNames.binding(source), BindingRecord))?.value;
  if (binding === undefined) throw new StreamsError("JOB_RANGE", `${source} has never been read`);
  const planned: RecountRangeSpec[] = [];
  const gone: { partition: number; rows: readonly CountingRow[]; choice: RecountChoice }[] = [];
  for (const wish of request.ranges ?? everyPartition(binding)) {
    const { ledger, choice } = await chooseApplied(service, binding, wish, request, clock);
    const rows = await decodedBy(service, ledger, choice.rows, request.decodedBy);
    const lost = choice.gone.filter((row) => row.until > row.from);
    if (lost.length > 0) gone.push({ partition: wish.partition, rows: lost, choice });
    // Where nobody has read yet, live reading decides where its first row begins.
    const uncovered = purpose === "replay" && ledger.rows.length > 0 ? choice.uncovered : [];
    const target = { source, partition: wish.partition, log: logOf(binding) };
    planned.push(
      ...(await allot(new CountingLedgers(plane.control), target, { rows, uncovered }, inForce.revision, clock.now())),
    );
  }
  if (gone.length > 0 && request.partly !== true && purpose === "recount") throw historyGone(gone);
  const exchange = request.compareOnly !== true;
  const spec: RecountSpec = {
    log: logOf(binding),
    // A replay changes no row that is there: what it finds in it was applied already.
    ranges: planned.map((range) => ({
      ...range,
      exchange: exchange && (purpose === "recount" || range.replaces === null),
    })),
  };
  return {
    revision: inForce.revision,
    spec,
    partitions: planned.map(({ partition, row }) => ({ partition, from: row.from, to: row.until })),
    rates: request.rates ?? {},
    applies: true,
  };
}

/** How long a submission waits for live reading to come to the end of a row that was just closed, and how often it looks. */
const BEHIND_MS = 5_000;
const LOOK_MS = 250;

/**
 * A row that was just closed ends where was reserved: what was fetched until there is on its way, and then the copy is.
 * @throws StreamsError RECOUNT_BEHIND where it does not come in time
 */
async function chooseApplied(
  service: SourceService,
  binding: Binding,
  wish: PartitionWish,
  request: RecountRequest,
  clock: Clock,
): Promise<{ readonly ledger: CountingLedger; readonly choice: RecountChoice }> {
  const until = clock.monotonic() + BEHIND_MS;
  let chosen = await chooseIn(service, binding, wish, request);
  while (chosen.choice.behind.length > 0 && request.partly !== true) {
    if (clock.monotonic() >= until) {
      const ends = chosen.choice.behind.map((row) => row.until).join(", ");
      throw new StreamsError("RECOUNT_BEHIND", `partition ${wish.partition} is not applied up to ${ends}`);
    }
    await new Promise<void>((resolve) => {
      clock.after(LOOK_MS, resolve);
    });
    chosen = await chooseIn(service, binding, wish, { ...request, closeOpen: false });
  }
  return chosen;
}

function everyPartition({ epochs }: Pick<Binding, "epochs">): readonly PartitionWish[] {
  const count = epochs.at(-1)?.partitions ?? 0;
  return Array.from({ length: count }, (_unused, partition) => ({ partition }));
}

async function chooseIn(
  service: SourceService,
  binding: Binding,
  { partition, from = 0, to = OFFSET_LIMIT }: PartitionWish,
  { closeOpen = false }: RecountRequest,
): Promise<{ readonly ledger: CountingLedger; readonly choice: RecountChoice }> {
  const { plane, source, clock } = service.parts;
  const topicEpoch = topicEpochOf(binding, partition);
  if (topicEpoch === undefined) throw new StreamsError("PARTITION_UNKNOWN", `there is no partition ${partition}`);
  const target = { source: service.name, partition, log: logOf(binding) };
  const ledgers = new CountingLedgers(plane.control);
  const present = await ledgers.read(target);
  const closes = closeOpen && present.rows.length > 0;
  const ledger = closes ? await ledgers.update(target, (before) => closeOpenRow(before, clock.now())) : present;
  const [cell] = await plane.restore([{ space: "copy", key: copyKey(service.name, topicEpoch, partition) }]);
  const copy = cell === undefined ? 0 : decodeCopy(cell.bytes).watermark;
  const answer = (await source.bounds()).get(partition);
  if (answer?.known !== true) throw new StreamsError("JOB_RANGE", `the bounds of partition ${partition} are not known`);
  const { logStart, end } = answer;
  if (from > to || (from > 0 && from < logStart && ledger.rows.length === 0)) {
    throw new StreamsError("JOB_RANGE", `partition ${partition} holds [${logStart}, ${end})`, {
      partition,
      bounds: { logStart: `${logStart}`, end: `${end}` },
    });
  }
  const wish: OffsetRange = { from: Math.max(from, Math.min(logStart, firstOf(ledger))), until: Math.min(to, end) };
  const choice = chooseRows(ledger, wish, { copy, logStart });
  return { ledger, choice: { ...choice, uncovered: within(choice.uncovered, logStart) } };
}

function firstOf({ rows }: CountingLedger): Offset {
  return rows[0]?.from ?? Number.POSITIVE_INFINITY;
}

/** What the log still holds of ranges that were never counted. */
function within(ranges: readonly OffsetRange[], logStart: Offset): readonly OffsetRange[] {
  return ranges
    .map(({ from, until }) => ({ from: Math.max(from, logStart), until }))
    .filter(({ from, until }) => from < until);
}

async function decodedBy(
  service: SourceService,
  ledger: CountingLedger,
  rows: readonly number[],
  version: number | undefined,
): Promise<readonly number[]> {
  if (version === undefined) return rows;
  const kept: number[] = [];
  for (const number of rows) {
    const revision = ledger.rows.find((row) => row.number === number)?.revision ?? 0;
    const name = recordNames.revision(service.name, revision);
    const record = (await readRecord(service.parts.plane.control, name, RevisionRecord))?.value;
    if (record?.definition.descriptor?.version === version) kept.push(number);
  }
  return kept;
}

/** Numbers for the rows that are counted into: taken by compare-and-set, so that no other recount has them. */
async function allot(
  ledgers: CountingLedgers,
  target: { readonly source: string; readonly partition: number; readonly log: number },
  wanted: { readonly rows: readonly number[]; readonly uncovered: readonly OffsetRange[] },
  revision: number,
  nowMs: number,
): Promise<readonly RecountRangeSpec[]> {
  const ranges: RecountRange[] = [];
  const { rows, uncovered } = wanted;
  if (rows.length === 0 && uncovered.length === 0) return [];
  await ledgers.update(target, (before) => {
    ranges.length = 0;
    let ledger = before;
    const orders = [{ rows }, ...uncovered.map((range) => ({ rows: [], uncovered: range }))];
    for (const order of orders) {
      if (order.rows.length === 0 && !("uncovered" in order)) continue;
      const plan = planRecount(ledger, { ...order, copy: OFFSET_LIMIT, revision, nowMs });
      if ("refused" in plan) {
        throw new StreamsError("JOB_RANGE", `partition ${target.partition}: ${plan.refused}`, {
          refused: plan.refused,
        });
      }
      ledger = plan.ledger;
      ranges.push(...plan.ranges);
    }
    return ledger;
  });
  return ranges.map(({ replaces, row }) => ({ partition: target.partition, replaces, row, exchange: true }));
}

function historyGone(
  gone: readonly {
    readonly partition: number;
    readonly rows: readonly CountingRow[];
    readonly choice: RecountChoice;
  }[],
): StreamsError {
  const texts = gone.map(({ partition, rows }) => {
    const from = rows[0]?.from ?? 0;
    return `partition ${partition}: the log has lost records of [${from}, ${rows.at(-1)?.until ?? from})`;
  });
  const possible = gone.map(({ partition, rows }) => ({ partition, from: `${rows.at(-1)?.until ?? 0}` }));
  return new StreamsError("HISTORY_GONE", texts.join("; "), { possible });
}
