import type { OrderedBytes } from "../cell.ts";
import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";
import type { ByteChunks } from "./byte-chunks.ts";
import type { CounterFamily } from "./inputs.ts";
import { VisitorSketch } from "./sketch.ts";
import { decodeTotals, encodeTotals } from "./slot.ts";
import { Totals } from "./totals.ts";

/** The one slot of a family that is being counted on: a fold loads one after the other into it. */
export class WorkingSlot {
  readonly totals: Totals;
  visitors: VisitorSketch | undefined;
  readonly #family: CounterFamily;

  constructor(family: CounterFamily) {
    this.#family = family;
    this.totals = new Totals(family.values);
  }

  /** It holds nothing. */
  clear(): void {
    this.totals.clear();
    this.visitors = this.#family.visitors ? new VisitorSketch() : undefined;
  }

  /**
   * Takes over the cell that stands in `bytes` from `from` to `to`.
   * @throws InvariantViolation for anything but a slot of the family, which is all that a row's revision writes
   */
  load(bytes: Uint8Array, from: number, to: number): void {
    const cursor = { bytes, at: from };
    this.visitors = decodeTotals(cursor, this.totals);
    invariant((this.visitors !== undefined) === this.#family.visitors, "SLOT_SHAPE", SHAPE);
    invariant(cursor.at === to, "SLOT_BYTES", "bytes are left over");
  }

  /** Its cell, whole (I9), when it holds every event up to and with `offset`; its bytes are a piece of `chunks`. */
  encode(offset: Offset, chunks: ByteChunks): OrderedBytes {
    return encodeTotals(offset, this.totals, this.visitors, chunks);
  }
}

const SHAPE = "a stored slot has another shape than its row's revision";
