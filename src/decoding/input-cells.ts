import type { InputPlan } from "./input-plan.ts";

/** A cell is this many numbers: low bits or start, high bits or end, where the field began, state. */
export const CELL = 4;
export const CELL_HIGH = 1;
export const CELL_AT = 2;
export const CELL_STATE = 3;

/** States of a cell. Whether a zero is a value is for who reads the cell. */
export const ABSENT = 0;
export const PRESENT = 1;
/** Text that is UTF-8 and not ASCII alone. */
export const PRESENT_UTF8 = 2;

/** Cells that a reader has filled. */
export interface InputCells {
  readonly plan: InputPlan;
  /** {@link CELL} numbers per cell. */
  readonly cells: Int32Array;
}

/** A cell's signed 64 bits as a number: exact up to 53 bits, which covers the seconds of every valid Timestamp. */
export function secondsOf(cells: Int32Array, cell: number): number {
  return (cells[cell * CELL + CELL_HIGH] ?? 0) * 2 ** 32 + ((cells[cell * CELL] ?? 0) >>> 0);
}
