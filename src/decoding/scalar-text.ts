import type { ScalarType } from "./schema.ts";
import type { Wire } from "./wire.ts";

/** The decimal text of the integer, bool or enum that the wire read last. */
export function decimalText(wire: Wire, type: ScalarType): string {
  switch (type) {
    case "bool":
      return wire.lo !== 0 || wire.hi !== 0 ? "true" : "false";
    case "uint32":
    case "fixed32":
      return String(wire.lo >>> 0);
    case "sint32":
      return String((wire.lo >>> 1) ^ -(wire.lo & 1));
    case "int32":
    case "sfixed32":
    case "enum":
      return String(wire.lo);
    case "uint64":
    case "fixed64":
      return wire.hi >>> 21 === 0 ? String(safe(wire)) : String(wire.uint64());
    case "sint64":
      wire.unzigzag64();
      return String(wire.int64());
    default:
      return wire.hi >>> 21 === 0 ? String(safe(wire)) : String(wire.int64());
  }
}

/** A value of at most 53 bits. */
function safe(wire: Wire): number {
  return wire.hi * 2 ** 32 + (wire.lo >>> 0);
}

/** JSON text of a double: the shortest that reads back the same; the three others as strings. −0 keeps its sign. */
export function doubleText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? "-0" : String(value);
  if (Number.isNaN(value)) return '"NaN"';
  return value > 0 ? '"Infinity"' : '"-Infinity"';
}

const SMALLEST_NORMAL_FLOAT = 2 ** -126;

/** JSON text of a float: the shortest that reads back to the same float. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return doubleText(value);
  // Below this, floats have fewer than six digits.
  const fewest = Math.abs(value) < SMALLEST_NORMAL_FLOAT ? 1 : 6;
  for (let digits = fewest; digits < 9; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return doubleText(Object.is(value, -0) ? -0 : rounded);
  }
  return doubleText(Number(value.toPrecision(9)));
}
