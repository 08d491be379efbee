import type { OrderedBytes } from "../core/cell.ts";
import { isFault, type RecordFault } from "../core/fault.ts";
import { documentId, documentKey } from "../core/keys.ts";
import { rowAt } from "../core/ledger/ledger.ts";
import { cellOf, judge, type Judged } from "../fleet/fold.ts";
import type { Verdicts } from "../fleet/verdicts.ts";
import type { UnknownFieldCounts } from "../ports/decoder.ts";
import type { DecodedInput, JudgedRecord, RecordOutcome } from "../ports/explain.ts";
import type { VersionedWrite } from "../ports/kind.ts";
import type { CellAddress } from "../ports/kv-plane.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { Surroundings } from "./surroundings.ts";

/** A record as its partition's runner judges it, and where the store would hold it. */
export interface Judgement {
  readonly record: JudgedRecord;
  /** The cell that it becomes; undefined for a fault, or where no revision judges it. */
  readonly cell: OrderedBytes | undefined;
  readonly fault: boolean;
  /** Where the store holds what its key stands for; undefined where its key is none. */
  readonly address: CellAddress | undefined;
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
