import type { InputValue } from "../ports/decoder.ts";
import type { InputCell } from "./input-plan.ts";
import { ABSENT, CELL, CELL_HIGH, CELL_STATE, PRESENT, secondsOf } from "./input-cells.ts";
import type { InputCells } from "./input-cells.ts";
import { asciiText, textOf } from "./text.ts";
import { timeFromMilliseconds, timeFromTimestamp } from "./time.ts";

const scratch = new DataView(new ArrayBuffer(8));

/** Makes the values of a kind's inputs from the cells that a reader has filled without a fault. */
export function inputValues(reader: InputCells, bytes: Uint8Array): InputValue[] {
  return reader.plan.inputs.map((input, cell) => {
    if (reader.cells[cell * CELL + CELL_STATE] === ABSENT) return undefined;
    const value = valueOf(reader, input, cell, bytes);
    return input.milliseconds ? timeFromMilliseconds(value) : value;
  });
}

/** The value of a cell that is not absent; undefined for the zero of an implicit field. */
function valueOf(reader: InputCells, input: InputCell, cell: number, bytes: Uint8Array): InputValue {
  const { cells } = reader;
  const low = cells[cell * CELL] ?? 0;
  const high = cells[cell * CELL + CELL_HIGH] ?? 0;
  const { becomes, presence } = input;
  switch (becomes) {
    case "text":
      if (low === high) return presence ? "" : undefined;
      return cells[cell * CELL + CELL_STATE] === PRESENT ? asciiText(bytes, low, high) : textOf(bytes, low, high);
    case "bytes":
      return presence || low !== high ? bytes.subarray(low, high) : undefined;
    case "timestamp":
      return timeFromTimestamp(secondsOf(cells, cell), cells[(input.nanos ?? 0) * CELL] ?? 0);
    case "enum":
      return presence || low !== 0 ? low : undefined;
    case "float":
      scratch.setInt32(0, low, true);
      return presence || low !== 0 ? scratch.getFloat32(0, true) : undefined;
    default:
      return numberOf(input, low, high);
  }
}

function numberOf({ becomes, presence }: InputCell, low: number, high: number): InputValue {
  if (!presence && low === 0 && (high === 0 || becomes.endsWith("32"))) return undefined;
  switch (becomes) {
    case "flag":
      return low !== 0 || high !== 0;
    case "double":
      scratch.setInt32(0, low, true);
      scratch.setInt32(4, high, true);
      return scratch.getFloat64(0, true);
    default:
      return integerOf(becomes, low, high);
  }
}

/** The integer that a cell's bits mean. */
export function integerOf(becomes: InputCell["becomes"], low: number, high: number): bigint {
  switch (becomes) {
    case "signed32":
      return BigInt(low);
    case "unsigned32":
      return BigInt(low >>> 0);
    case "zigzag32":
      return BigInt((low >>> 1) ^ -(low & 1));
    case "zigzag64": {
      const sign = -(low & 1);
      return int64(((low >>> 1) | (high << 31)) ^ sign, (high >>> 1) ^ sign);
    }
    case "unsigned64":
      return uint64(low, high);
    default:
      return int64(low, high);
  }
}

function int64(low: number, high: number): bigint {
  scratch.setInt32(0, low, true);
  scratch.setInt32(4, high, true);
  return scratch.getBigInt64(0, true);
}

function uint64(low: number, high: number): bigint {
  scratch.setInt32(0, low, true);
  scratch.setInt32(4, high, true);
  return scratch.getBigUint64(0, true);
}
