import { createHash } from "node:crypto";
import { encodeDocumentCell } from "../core/cell.ts";
import { faultText, isFault, type RecordFault } from "../core/fault.ts";
import { invariant } from "../core/invariant.ts";
import { documentKey } from "../core/keys.ts";
import { type Ledger, rowAt } from "../core/ledger/ledger.ts";
import type { Offset } from "../core/offset.ts";
import type { PoisonBreaker } from "../core/partition/breaker.ts";
import type { Fingerprint } from "../core/partition/copy.ts";
import { versionOf } from "../core/version.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { DecodedRecord } from "../ports/decoder.ts";
import type { VersionedWrite } from "../ports/kind.ts";
import type { CellWrite } from "../ports/kv-plane.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { Verdict, VersionedVerdict } from "./verdicts.ts";

/** What one batch becomes. */
export interface Folded {
  /** The newest write of each key. */
  readonly writes: readonly CellWrite[];
  readonly letters: readonly DeadLetter[];
  /** Policy `stop`, or the breaker: the record at which the partition stops; nothing at or after it is in `writes`. */
  readonly poison: Poison | undefined;
  /** Records looked at, dead letters included. */
  readonly records: number;
  /** Writes that a newer one of the same key in this batch made needless. */
  readonly superseded: number;
  readonly fingerprint: Fingerprint | undefined;
}

/** The record that stops its partition, and why. */
export interface Poison {
  readonly offset: Offset;
  readonly code: "POISON" | "POISON_BREAKER";
  readonly detail: string;
}

export interface FoldContext {
  readonly topicEpoch: number;
  readonly ledger: Ledger;
  /** What a revision means; every revision of the ledger's rows has been loaded. */
  readonly verdictOf: (revision: number) => VersionedVerdict;
  /** Wall clock, only for a letter's "first seen". */
  readonly nowMs: number;
  /** Poison below it goes to the dead letters, whatever policy and breaker say. */
  readonly allowPoisonTo: Offset;
  readonly breaker: PoisonBreaker;
}

/** A record judged: a write, or a fault, and under which verdict. */
export interface Judged {
  readonly verdict: VersionedVerdict;
  readonly result: VersionedWrite | RecordFault;
  /** What the value was decoded to; null for a null value, undefined where it was not, or could not be. */
  readonly decoded: DecodedRecord | null | undefined;
}

/** What a verdict depends on beside the record. */
export type JudgeContext = Pick<FoldContext, "ledger" | "verdictOf">;

/**
 * Judges every record at or above `from` under the ledger row that covers it (I17), and folds the writes: the newest
 * version of each key stands. Pure but for hashing; the same batch gives the same result.
 *
 * @throws InvariantViolation when an offset has no row, or offsets do not ascend.
 */
export function foldBatch(batch: RecordBatch, from: Offset, context: FoldContext): Folded {
  const newest = new Map<string, CellWrite>();
  const letters: DeadLetter[] = [];
  let poison: Folded["poison"];
  let records = 0;
  let puts = 0;
  let last = -1;
  for (let index = 0; index < batch.count && poison === undefined; index += 1) {
    const offset = batch.offsetAt(index);
    invariant(index === 0 || offset > batch.offsetAt(index - 1), "BATCH_OFFSETS", `offset ${offset} does not ascend`);
    if (offset < from) continue;
    const { verdict, result } = judge(batch, index, context);
    if (!isFault(result)) {
      context.breaker.applied(offset);
      newest.set(result.id, cellOf(batch, index, verdict, result, context.topicEpoch));
      puts += 1;
    } else {
      poison = stopAt(offset, verdict, result, context);
      if (poison !== undefined) break;
      letters.push(letterOf(batch, index, verdict, result, context));
    }
    records += 1;
    last = index;
  }
  const fingerprint = last === -1 ? undefined : fingerprintOf(batch, last);
  return { writes: [...newest.values()], letters, poison, records, superseded: puts - newest.size, fingerprint };
}

/** Whether a record that cannot be applied stops its partition, and why. */
export function stopAt(
  offset: Offset,
  verdict: Verdict,
  fault: RecordFault,
  context: Pick<FoldContext, "allowPoisonTo" | "breaker">,
): Poison | undefined {
  if (offset < context.allowPoisonTo) return undefined;
  const text = `offset ${offset}: ${fault.code}: ${faultText(fault)}`;
  if (verdict.definition.onPoison === "stop") return { offset, code: "POISON", detail: text };
  const tripped = context.breaker.poison(offset);
  return tripped === undefined
    ? undefined
    : { offset, code: "POISON_BREAKER", detail: `${tripped}, the last: ${text}` };
}

/**
 * The one verdict over a record (I17): for what is applied, and for whoever asks afterwards what became of it.
 * @throws InvariantViolation when its offset has no row
 */
export function judge(batch: RecordBatch, index: number, context: JudgeContext): Judged {
  const offset = batch.offsetAt(index);
  const row = rowAt(context.ledger, offset);
  invariant(row !== undefined, "LEDGER_UNCOVERED", `offset ${offset} has no ledger row`);
  const verdict = context.verdictOf(row.revision);
  const record = { key: batch.keyAt(index), timestampMs: batch.timestampAt(index) };
  if (!Number.isSafeInteger(record.timestampMs)) {
    const text = "the record's timestamp is beyond what milliseconds since 1970 can mean";
    return { verdict, result: { code: "CONTRACT_TIMESTAMP", text }, decoded: undefined };
  }
  const value = batch.valueAt(index);
  if (value === null) return { verdict, result: verdict.kind.apply(record, null), decoded: null };
  const decoded = verdict.decoder.decode(value);
  if (isFault(decoded)) return { verdict, result: decoded, decoded: undefined };
  return { verdict, result: verdict.kind.apply(record, decoded), decoded };
}

/** The cell that a record's write becomes. */
export function cellOf(
  batch: RecordBatch,
  index: number,
  verdict: VersionedVerdict,
  write: VersionedWrite,
  topicEpoch: number,
): CellWrite {
  const live = write.write === "put";
  return {
    space: verdict.kind.space,
    key: documentKey(verdict.definition.namespace, write.id),
    order: versionOf({ topicEpoch, offset: batch.offsetAt(index) }),
    bytes: encodeDocumentCell({
      revision: verdict.revision,
      partition: batch.partition,
      state: live ? "live" : "deleted",
      bodyFormat: live ? write.body.format : "none",
      descriptorVersion: live ? verdict.decoder.descriptorVersion : 0,
      timestampMs: batch.timestampAt(index),
      body: live ? write.body.bytes : new Uint8Array(0),
    }),
  };
}

/** The letter that a record becomes that cannot be applied. */
export function letterOf(
  batch: RecordBatch,
  index: number,
  verdict: Verdict,
  fault: RecordFault,
  context: Pick<FoldContext, "topicEpoch" | "nowMs">,
): DeadLetter {
  return {
    source: verdict.definition.name,
    topic: verdict.definition.topic,
    topicEpoch: context.topicEpoch,
    partition: batch.partition,
    offset: batch.offsetAt(index),
    timestampMs: batch.timestampAt(index),
    key: batch.keyAt(index),
    value: batch.valueAt(index),
    headers: batch.headersAt(index),
    fault,
    descriptorVersion: verdict.decoder.descriptorVersion,
    revision: verdict.revision,
    attempt: 1,
    firstSeenMs: context.nowMs,
  };
}

/** Recognises a record again: offset, timestamp and a hash over key and value in which null and empty differ. */
export function fingerprintOf(batch: RecordBatch, index: number): Fingerprint {
  const hash = createHash("sha256");
  for (const part of [batch.keyAt(index), batch.valueAt(index)]) {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setInt32(0, part === null ? -1 : part.length);
    hash.update(length);
    if (part !== null) hash.update(part);
  }
  return {
    offset: batch.offsetAt(index),
    timestampMs: batch.timestampAt(index),
    hash: hash.digest("hex").slice(0, 32),
  };
}

/** What became of the record that a verification looks for, as far as this batch tells. */
export function recognise(batch: RecordBatch, wanted: Fingerprint): "equal" | "different" | "absent" | undefined {
  for (let index = 0; index < batch.count; index += 1) {
    const offset = batch.offsetAt(index);
    if (offset > wanted.offset) return "absent";
    if (offset < wanted.offset) continue;
    const found = fingerprintOf(batch, index);
    return found.hash === wanted.hash && found.timestampMs === wanted.timestampMs ? "equal" : "different";
  }
  return batch.next > wanted.offset ? "absent" : undefined;
}
