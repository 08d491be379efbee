import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import type { ByteChunks } from "./byte-chunks.ts";
import { VisitorSketch } from "./sketch.ts";
import { Totals } from "./totals.ts";
import { ByteSink, type Cursor, putNumber, takeNumber, takeUnsigned } from "./varint.ts";

/**
 * One row's share of one counter: totals of the row up to an offset, never a difference (I9). Written whole as one cell whose
 * order is the offset + 1, so that the larger offset wins and a zombie's smaller one merges away.
 *
 * Equal offset means equal bytes: every number is an integer of any size, and a sketch has one encoding.
 */
export interface SlotValues {
  /** What they mean is the kind's: counts, or sums of scaled scores. */
  readonly counters: readonly bigint[];
  /** Distinct visitors, where the counter has them. */
  readonly visitors: VisitorSketch | undefined;
}

/** A slot: values that hold every event of the row up to and with `offset`. */
export interface Slot extends SlotValues {
  readonly offset: Offset;
}

const FORMAT = 1;
const COUNTERS_MAX = 4_096;

/** What is encoded now; encoding is done in one go. */
const sink = new ByteSink();

/** Encodes a slot as a cell. */
export function encodeSlot({ offset, counters, visitors }: Slot): OrderedBytes {
  return encodeTotals(offset, Totals.of(counters), visitors);
}

/** Encodes the parts of a slot as a cell, whose bytes are a piece of `chunks` where these are given. */
export function encodeTotals(
  offset: Offset,
  totals: Totals,
  visitors: VisitorSketch | undefined,
  chunks?: ByteChunks,
): OrderedBytes {
  sink.push(FORMAT);
  putNumber(sink, totals.length);
  totals.encode(sink);
  sink.push(visitors === undefined ? 0 : 1);
  visitors?.encode(sink);
  return { order: offset + 1, bytes: sink.take(chunks) };
}

/** Decodes what {@link encodeSlot} wrote. @throws InvariantViolation on anything else */
export function decodeSlot({ order, bytes }: OrderedBytes): Slot {
  invariant(order > 0, "SLOT_BYTES", "foreign slot");
  const cursor: Cursor = { bytes, at: 0 };
  const length = takeLength(cursor);
  const counters: bigint[] = [];
  while (counters.length < length) counters.push(takeUnsigned(cursor));
  const visitors = takeVisitors(cursor);
  invariant(cursor.at === bytes.length, "SLOT_BYTES", "bytes are left over");
  return { offset: order - 1, counters, visitors };
}

/**
 * Decodes a slot's totals into `totals`; returns its visitors. What follows the cell in the cursor's bytes is not looked at.
 * @throws InvariantViolation on anything but a slot with so many totals
 */
export function decodeTotals(cursor: Cursor, totals: Totals): VisitorSketch | undefined {
  const length = takeLength(cursor);
  invariant(length === totals.length, "SLOT_SHAPE", `${length} totals in the stead of ${totals.length}`);
  totals.decode(cursor);
  return takeVisitors(cursor);
}

function takeLength(cursor: Cursor): number {
  invariant(cursor.bytes[cursor.at] === FORMAT, "SLOT_BYTES", "foreign slot");
  cursor.at += 1;
  const length = takeNumber(cursor);
  invariant(length <= COUNTERS_MAX, "SLOT_BYTES", `${length} counters`);
  return length;
}

function takeVisitors(cursor: Cursor): VisitorSketch | undefined {
  const marked = cursor.bytes[cursor.at];
  invariant(marked === 0 || marked === 1, "SLOT_BYTES", "whether there are visitors");
  cursor.at += 1;
  return marked === 1 ? VisitorSketch.decode(cursor) : undefined;
}

/**
 * The sum of slots, which is the counter: of all partitions and listed rows. Slots of different shapes, from revisions that
 * count differently, may not be summed. Visitors are those of the slots that have them; undefined where none has.
 * @throws InvariantViolation for slots of different shapes
 */
export function sumSlots(slots: readonly SlotValues[]): SlotValues {
  const [first, ...others] = slots;
  if (first === undefined) return { counters: [], visitors: undefined };
  let counters = first.counters;
  let visitors = first.visitors?.clone();
  for (const slot of others) {
    invariant(slot.counters.length === counters.length, "SLOT_SHAPE", "slots of different shapes");
    counters = counters.map((counter, index) => counter + (slot.counters[index] ?? 0n));
    if (slot.visitors === undefined) continue;
    if (visitors === undefined) visitors = slot.visitors.clone();
    else visitors.union(slot.visitors);
  }
  return { counters, visitors };
}
