import { compareOrdered, type OrderedBytes } from "../core/cell.ts";
import { documentId, documentKey } from "../core/keys.ts";
import { rowAt } from "../core/ledger/ledger.ts";
import { acknowledgedEnd } from "../core/lag.ts";
import type { Offset } from "../core/offset.ts";
import { versionOf } from "../core/version.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { type LogDoubt, logDoubtOf } from "../fleet/log-doubt.ts";
import type { SourceService } from "../fleet/source-service.ts";
import { type VerdictDependencies, Verdicts } from "../fleet/verdicts.ts";
import { GapLedger } from "../gaps/gap-ledger.ts";
import { type FoundGap, gapsWithin } from "../gaps/gaps-within.ts";
import type { Clock } from "../ports/clock.ts";
import type { CountedSlot, ExplainKeyView, ExplainQueries, ExplainView, OwnerHolds } from "../ports/explain.ts";
import type { KvPlane, OwnerAnswer } from "../ports/kv-plane.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { LogBounds } from "../ports/record-source.ts";
import { type FoundRecord, KeySearcher, unreadable } from "./key-search.ts";
import { LogCheck } from "./log-check.ts";
import { judgeRecord } from "./record-judge.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";
import { cellOrigin, tell, type Told } from "./verdict.ts";

/** Explanations under way at once: each may look at a good part of a log. */
export const EXPLAIN_AT_ONCE_MAX = 4;

/** Asked for to find one record: the first batch comes whole. */
const RECORD_BYTES = 4_096;

/** What explanations are made of. */
export interface ExplainParts {
  readonly fleet: Pick<Fleet, "service">;
  readonly plane: KvPlane;
  readonly verdicts: VerdictDependencies;
  /** Owners that a read has to ask before what they do not hold is missing. */
  readonly readOwners: number;
  readonly clock: Clock;
}

/** What became of a record: read from the broker, judged by the runner's own code, held against what the owners hold. */
export class ExplainService implements ExplainQueries {
  readonly #parts: ExplainParts;
  readonly #gaps: GapLedger;
  #busy = 0;

  constructor(parts: ExplainParts) {
    this.#parts = parts;
    this.#gaps = new GapLedger(parts.plane.control);
  }

  record(source: string, partition: number, offset: Offset): Promise<ExplainView> {
    return this.#inTurn(async () => {
      const service = this.#parts.fleet.service(source);
      const bounds = await this.#boundsOf(service, partition);
      return this.#explainAt(service, partition, offset, bounds, this.#question(service));
    });
  }

  key(source: string, key: Uint8Array, last: number): Promise<ExplainKeyView> {
    return this.#inTurn(async () => {
      const { clock } = this.#parts;
      const service = this.#parts.fleet.service(source);
      const bounds = await knownBounds(service);
      const { found, ended, looked } = await new KeySearcher(service.parts.source, clock, key).search(bounds, last);
      const question = this.#question(service);
      const records: ExplainView[] = [];
      for (const { batch, index } of found) {
        records.push(await this.#explain(service, batch, index, bounds.get(batch.partition), question));
      }
      const held = await this.#held(service, key, found, bounds, question);
      const newest = [...records, ...held].toSorted((one, other) => versionOf(other) - versionOf(one)).slice(0, last);
      return { source, records: newest, ended, looked, asOf: clock.now() };
    });
  }

  /** The record that the store holds under the key, where the search did not get as far back. */
  async #held(
    service: SourceService,
    key: Uint8Array,
    found: readonly FoundRecord[],
    bounds: ReadonlyMap<number, LogBounds>,
    question: Question,
  ): Promise<readonly ExplainView[]> {
    const id = documentId(key);
    if (id === undefined) return [];
    const { namespace, kind } = service.parts.inForce.definition;
    const space = this.#parts.verdicts.kinds.get(kind)?.space;
    if (space === undefined) return [];
    const newest = newestOf(await this.#parts.plane.inspect({ space, key: documentKey(namespace, id) }));
    if (newest === undefined) return [];
    const { partition, offset, topicEpoch } = cellOrigin(newest);
    const log = bounds.get(partition);
    const known = found.some(({ batch, index }) => batch.partition === partition && batch.offsetAt(index) === offset);
    const present = topicEpoch === (await surroundingsOf(service, partition, offset)).topicEpoch;
    if (known || !present || log === undefined || offset < log.logStart || offset >= log.end) return [];
    return [await this.#explainAt(service, partition, offset, log, question)];
  }

  async #explainAt(
    service: SourceService,
    partition: number,
    offset: Offset,
    bounds: LogBounds,
    question: Question,
  ): Promise<ExplainView> {
    if (offset >= bounds.end && offset < acknowledgedEnd(bounds)) {
      const view = await this.#without(service, partition, offset, bounds, "not-read");
      return { ...view, reason: "open-transaction" };
    }
    if (offset >= bounds.end) return this.#without(service, partition, offset, bounds, "not-produced");
    if (offset < bounds.logStart) return this.#without(service, partition, offset, bounds, "gone");
    const read = await service.parts.source.read(partition, offset, RECORD_BYTES);
    // Retention has passed it since the bounds were read.
    if (read.read === "out-of-range") return this.#without(service, partition, offset, bounds, "gone");
    if (read.read === "fault") throw unreadable(partition, offset, read.code);
    const found = read.batch.count > 0 && read.batch.offsetAt(0) === offset;
    if (!found) return this.#without(service, partition, offset, bounds, "no-record");
    return this.#explain(service, read.batch, 0, bounds, question);
  }

  async #explain(
    service: SourceService,
    batch: RecordBatch,
    index: number,
    bounds: LogBounds | undefined,
    question: Question,
  ): Promise<ExplainView> {
    const { partition } = batch;
    const offset = batch.offsetAt(index);
    const surroundings = await surroundingsOf(service, partition, offset);
    const { topicEpoch, applied, readsAt } = surroundings;
    const { record, cell, fault, address, slots } = await judgeRecord(batch, index, surroundings, question.verdicts);
    const gaps = await this.#gapsAt(service, surroundings, offset);
    // After the copy: what that vouches for is stored by now.
    const answers = address === undefined ? [] : await this.#parts.plane.inspect(address);
    const counted = await Promise.all((slots ?? []).map(async (slot) => this.#parts.plane.inspect(slot)));
    const upTo = slots && counted.map((held) => newestOf(held)?.order ?? 0);
    const at = { partition, topicEpoch, offset, applied, ...(upTo === undefined ? {} : { slots: upTo }) };
    const fate = { ...at, cell, fault, readsAt, stored: newestOf(answers), gaps: gaps.map(({ gap }) => gap) };
    const { doubt, ...told } = await heldAgainst(question.log, surroundings, tell(fate));
    if (told.verdict === "missing") for (const held of slots ? counted : [answers]) this.#refuseUnlessAnswered(held);
    const row = record.judged?.row ?? 0;
    return {
      ...this.#base(service, surroundings, offset, bounds, gaps),
      verdict: told.verdict,
      ...(told.verdict === "not-read" ? notReadOf(service, surroundings, offset, doubt) : {}),
      record,
      ...(told.by === undefined ? {} : { supersededBy: told.by }),
      owners: answers.map(ownerHolds),
      ...(slots === undefined ? {} : { slots: counted.map((held) => ({ row, owners: held.map(ownerCounts) })) }),
    };
  }

  async #without(
    service: SourceService,
    partition: number,
    offset: Offset,
    bounds: LogBounds,
    verdict: "not-produced" | "no-record" | "gone" | "not-read",
  ): Promise<ExplainView> {
    const surroundings = await surroundingsOf(service, partition, offset);
    const gaps = await this.#gapsAt(service, surroundings, offset);
    return { ...this.#base(service, surroundings, offset, bounds, gaps), verdict, owners: [] };
  }

  #base(
    { name }: SourceService,
    { partition, topicEpoch, applied }: Surroundings,
    offset: Offset,
    bounds: LogBounds | undefined,
    gaps: readonly FoundGap[],
  ) {
    return {
      source: name,
      partition,
      offset,
      topicEpoch,
      applied,
      ...(bounds === undefined ? {} : { bounds: { logStart: bounds.logStart, end: bounds.end } }),
      gaps: gaps.map(({ id }) => id),
      asOf: this.#parts.clock.now(),
    };
  }

  async #gapsAt({ name }: SourceService, { partition, topicEpoch }: Surroundings, offset: Offset) {
    const range = { topicEpochs: [topicEpoch], from: offset, to: offset + 1 };
    return (await gapsWithin(this.#gaps, { source: name, partition }, range)).found;
  }

  /** Too few owners were asked to say that something is nowhere. @throws StreamsError KV_UNAVAILABLE */
  #refuseUnlessAnswered(answers: readonly OwnerAnswer[]): void {
    const answered = answers.filter(({ answer }) => answer !== "unavailable").length;
    if (answered >= this.#parts.readOwners) return;
    throw new StreamsError("KV_UNAVAILABLE", `${answered} owners answered, ${this.#parts.readOwners} are needed`);
  }

  #question(service: SourceService): Question {
    return { verdicts: new Verdicts(service.name, this.#parts.verdicts), log: new LogCheck(service) };
  }

  async #boundsOf(service: SourceService, partition: number): Promise<LogBounds> {
    const answer = (await service.parts.source.bounds()).get(partition);
    const { topic } = service.parts.inForce.definition;
    if (answer === undefined)
      throw new StreamsError("PARTITION_UNKNOWN", `topic ${topic} has no partition ${partition}`);
    if (answer.known) return answer;
    throw new StreamsError("BROKER_UNAVAILABLE", `the log of partition ${partition} is unknown: ${answer.cause}`);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy >= EXPLAIN_AT_ONCE_MAX)
      throw new StreamsError("EXPLAIN_BUSY", `${EXPLAIN_AT_ONCE_MAX} explanations are under way`);
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
    }
  }
}

/** What is known for one question. */
interface Question {
  /** Of the asker's own: what is decoded here must not be counted as read. */
  readonly verdicts: Verdicts;
  readonly log: LogCheck;
}

/**
 * What copies, cells and gaps tell of an offset is true of the log that was read. Where it may be another one, its records
 * were not; but a cell that is byte for byte what this record becomes is stored, whoever brought it.
 */
async function heldAgainst(
  log: LogCheck,
  surroundings: Surroundings,
  told: Told,
): Promise<Told & { readonly doubt: LogDoubt | undefined }> {
  const itself = told.verdict === "applied" || told.verdict === "already-applied";
  const doubt = itself || told.verdict === "not-read" ? undefined : await log.doubtOf(surroundings);
  return doubt === undefined ? { ...told, doubt } : { verdict: "not-read", by: undefined, doubt };
}

/** A partition without a leader cannot be looked through; the answer says where it looked. */
async function knownBounds(service: SourceService): Promise<ReadonlyMap<number, LogBounds>> {
  const answers = await service.parts.source.bounds();
  return new Map([...answers].flatMap(([partition, answer]) => (answer.known ? [[partition, answer] as const] : [])));
}

function newestOf(answers: readonly OwnerAnswer[]): OrderedBytes | undefined {
  const cells = answers.flatMap(({ cell }) => (cell === undefined ? [] : [cell]));
  return cells.toSorted(compareOrdered).at(-1);
}

function ownerHolds({ owner, answer, cell }: OwnerAnswer): OwnerHolds {
  return { owner, answer, ...(cell === undefined ? {} : { cell: cellOrigin(cell) }) };
}

/** A slot's order is one past the last offset that is in it. */
function ownerCounts({ owner, answer, cell }: OwnerAnswer): CountedSlot["owners"][number] {
  return { owner, answer, ...(cell === undefined ? {} : { upTo: cell.order }) };
}

function notReadOf(
  service: SourceService,
  { partition, ledger, present }: Surroundings,
  offset: Offset,
  doubt: LogDoubt | undefined,
): Pick<ExplainView, "reason" | "cause"> {
  const known = doubt ?? (present ? logDoubtOf(service, partition) : undefined);
  if (known !== undefined) return { reason: known.by === "stop" ? "stopped" : "holding", cause: known.code };
  const rowsBehind = ledger.rows.some(({ from }) => from > offset);
  if (rowsBehind && rowAt(ledger, offset) === undefined) return { reason: "before-start" };
  const stop = service.stopOf(partition)?.stop;
  if (stop !== undefined) return { reason: "stopped", cause: stop.code };
  if (service.pauseOf(partition) !== undefined) return { reason: "paused" };
  const phase = service.runners.get(partition)?.state.phase;
  return phase?.phase === "holding" ? { reason: "holding", cause: phase.cause.code } : { reason: "not-reached" };
}
