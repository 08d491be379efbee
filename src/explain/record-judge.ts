import type { OrderedBytes } from "../core/cell.ts";
import { isFault, type RecordFault } from "../core/fault.ts";
import { documentId, documentKey } from "../core/keys.ts";
import { rowAt } from "../core/ledger/ledger.ts";
import { cellOf, judge, type Judged } from "../fleet/fold.ts";
import type { CountingVerdict, Verdicts } from "../fleet/verdicts.ts";
import type { UnknownFieldCounts } from "../ports/decoder.ts";
import type { DecodedInput, JudgedRecord, RecordOutcome } from "../ports/explain.ts";
import type { VersionedWrite } from "../ports/kind.ts";
import type { CellAddress } from "../ports/kv-plane.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import { judgeCounted } from "./counted-judge.ts";
import type { Surroundings } from "./surroundings.ts";

/** A record as its partition's runner judges it, and where the store would hold it. */
export interface Judgement {
  readonly record: JudgedRecord;
  /** The cell that it becomes; undefined for a fault, or where no revision judges it. */
  readonly cell: OrderedBytes | undefined;
  readonly fault: boolean;
  /** Where the store holds what its key stands for; undefined where its key is none. */
  readonly address: CellAddress | undefined;
  /** Of counting kinds, where it can be counted: the slots that it counts into. */
  readonly slots?: readonly CellAddress[];
}

/**
 * Judges one record by the code that its runner runs, under the ledger row at its offset. `verdicts`: of the asker's own,
 * so that what it decodes is not counted as read.
 * @throws KvFault; StreamsError when the row's revision does not compile with this build
 */
export async function judgeRecord(
  batch: RecordBatch,
  index: number,
  surroundings: Surroundings,
  verdicts: Verdicts,
): Promise<Judgement> {
  const { ledger, topicEpoch } = surroundings;
  const key = batch.keyAt(index);
  const bare = { timestampMs: batch.timestampAt(index), key, valueBytes: batch.valueAt(index)?.length ?? null };
  const row = rowAt(ledger, batch.offsetAt(index));
  if (row === undefined) return { record: bare, cell: undefined, fault: false, address: undefined };
  await verdicts.load([row.revision]);
  const counting = verdicts.of(row.revision);
  if (counting.counting) return countedRecord(batch, index, row.number, surroundings, bare, counting);
  const { decoder } = verdicts.versioned(row.revision);
  const before = new Map(decoder.unknownFields());
  const judged = judge(batch, index, { ledger, verdictOf: (revision) => verdicts.versioned(revision) });
  const { verdict, result, decoded } = judged;
  const body = decoded?.body;
  const id = documentId(key);
  return {
    record: {
      ...bare,
      judged: {
        row: row.number,
        revision: row.revision,
        descriptorVersion: decoder.descriptorVersion,
        outcome: outcomeOf(result),
        inputs: inputsOf(judged),
        ...(body === undefined ? {} : { body }),
        unknownFields: addedTo(before, decoder.unknownFields()),
      },
    },
    cell: isFault(result) ? undefined : cellOf(batch, index, verdict, result, topicEpoch),
    fault: isFault(result),
    address:
      id === undefined ? undefined : { space: verdict.kind.space, key: documentKey(verdict.definition.namespace, id) },
  };
}

function countedRecord(
  batch: RecordBatch,
  index: number,
  row: number,
  { partition, log }: Surroundings,
  bare: JudgedRecord,
  verdict: CountingVerdict,
): Judgement {
  const { decoder, definition, revision } = verdict;
  const before = new Map(decoder.unknownFields());
  const owner = { source: definition.name, partition, log, row };
  const { fault, inputs, slots } = judgeCounted(batch, index, verdict, owner);
  const { descriptorVersion } = decoder;
  const outcome: RecordOutcome = fault === undefined ? { outcome: "count" } : outcomeOf(fault);
  const unknownFields = addedTo(before, decoder.unknownFields());
  const judged = { row, revision, descriptorVersion, outcome, inputs, unknownFields };
  const record = { ...bare, judged };
  return fault === undefined
    ? { record, cell: undefined, fault: false, address: undefined, slots }
    : { record, cell: undefined, fault: true, address: undefined };
}

function outcomeOf(result: VersionedWrite | RecordFault): RecordOutcome {
  if (!isFault(result)) return { outcome: result.write };
  const { code, text, path } = result;
  return { outcome: "fault", code, text, ...(path === undefined ? {} : { path }) };
}

function inputsOf({ verdict, decoded }: Judged): readonly DecodedInput[] {
  if (decoded === null || decoded === undefined) return [];
  return verdict.kind.inputs.map(({ name, type }, index) => ({ name, type, value: decoded.inputs[index] }));
}

/** The decoder counts over its life: what this record added. */
function addedTo(before: UnknownFieldCounts, after: UnknownFieldCounts) {
  return [...after]
    .map(([path, count]) => ({ path, count: count - (before.get(path) ?? 0) }))
    .filter(({ count }) => count > 0);
}
