import { compareBytes, compareOrdered, decodeDocumentCell, type OrderedBytes } from "../core/cell.ts";
import type { Gap } from "../core/gaps/gap.ts";
import type { Offset } from "../core/offset.ts";
import { originOf } from "../core/version.ts";
import type { CellOrigin, RecordVerdict } from "../ports/explain.ts";

/** What the fate of a record that the log holds is told from. */
export interface Fate {
  readonly partition: number;
  readonly topicEpoch: number;
  readonly offset: Offset;
  /** The cell that the record becomes; undefined for one that can never be applied, or that no revision judges. */
  readonly cell: OrderedBytes | undefined;
  /** Whether it is a fault. */
  readonly fault: boolean;
  /** Everything below it that was read is applied. */
  readonly applied: Offset;
  /** Where its partition reads on, where that is known here. */
  readonly readsAt: Offset | undefined;
  /** The newest cell that any owner holds under its key. */
  readonly stored: OrderedBytes | undefined;
  /** Entries of the gap ledger that cover it, newest first. */
  readonly gaps: readonly Gap[];
  /** Of counting kinds, where it can be counted: how far each slot that it counts into has come; −1 where there is none. */
  readonly slots?: readonly Offset[];
}

/** A verdict, and what superseded the record. */
export interface Told {
  readonly verdict: RecordVerdict;
  readonly by: CellOrigin | undefined;
}

/** Tells what became of a record. What the store holds is asked first: copies follow it, and gaps may have been read since. */
export function tell(fate: Fate): Told {
  const { offset, cell, stored, applied, readsAt } = fate;
  const by = stored === undefined ? undefined : cellOrigin(stored);
  if (cell !== undefined && stored !== undefined && by !== undefined && stored.order >= cell.order) {
    if (stored.order > cell.order) {
      if (passedOver(fate)) return { verdict: "skipped", by };
      if (offset < applied || overtakes(by, fate)) return { verdict: "superseded", by };
    } else if (compareBytes(stored.bytes, cell.bytes) === 0) {
      return { verdict: readsAt !== undefined && offset >= readsAt ? "already-applied" : "applied", by: undefined };
    } else if (compareOrdered(stored, cell) > 0) return { verdict: "superseded", by };
  }
  return { verdict: unstored(fate), by: undefined };
}

/** A later record of the same partition is stored, so this one was read before it. */
function overtakes(by: CellOrigin, { partition, topicEpoch, offset }: Fate): boolean {
  return by.partition === partition && by.topicEpoch === topicEpoch && by.offset > offset;
}

function unstored(fate: Fate): RecordVerdict {
  const { offset, applied, cell, fault, slots } = fate;
  if (passedOver(fate)) return "skipped";
  if (slots?.length === 0 && offset < applied) return "counted";
  if (slots !== undefined && slots.length > 0 && slots.every((upTo) => upTo > offset)) return "counted";
  if (slots !== undefined) return offset < applied ? "missing" : "not-read";
  // No revision judges what lies below the first row of the ledger: nobody has read it.
  if (offset >= applied || (cell === undefined && !fault)) return "not-read";
  return fault ? "dead-lettered" : "missing";
}

/** The newest entry decides: what was passed over may have been read later, and then found to be no record of its kind. */
function passedOver({ gaps: [newest] }: Fate): boolean {
  return newest !== undefined && newest.cause !== "dead-letter";
}

/** Where a cell came from. @throws InvariantViolation on foreign bytes */
export function cellOrigin({ order, bytes }: OrderedBytes): CellOrigin {
  const { partition, revision, descriptorVersion, state } = decodeDocumentCell(bytes);
  return { ...originOf(order), partition, revision, descriptorVersion, state };
}
