/** Grammar of a JSON number (RFC 8259, section 6): sign, integer digits, fraction digits, exponent. */
const NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** A decimal number without its notation: `digits` without leading or trailing zeros, times 10 to the `exponent`. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Splits the text of a JSON number. Returns undefined when it is none. Zero has no digits and exponent 0. */
function parseDecimal(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const all = `${whole}${fraction}`;
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === 0x30) start += 1;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === 0x30) end -= 1;
  if (start === end) return { negative: sign === "-", digits: "", exponent: 0 };
  return {
    negative: sign === "-",
    digits: all.slice(start, end),
    exponent: Number(exponent) - fraction.length + (all.length - end),
  };
}

/**
 * Whether a double holds the number digit for digit: the shortest text of the double is the same decimal number.
 * `304250263527210.0` and `0.1` do; `9007199254740993`, `9007199254740991.4` and `1e400` do not. `text` is a JSON number.
 */
export function doubleKeepsDigits(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const written = parseDecimal(text);
  const held = parseDecimal(String(value));
  if (written === undefined || held === undefined) return false;
  return written.digits === held.digits && written.exponent === held.exponent;
}

/** Longest integer text that is looked at: 64 bits need 20 digits. */
const MAX_INTEGER_DIGITS = 20;

/**
 * The exact integer that a JSON number writes, in any notation (`12`, `12.0`, `1.2e1`); undefined when it is not an
 * integer or has more than 20 digits.
 */
export function exactInteger(text: string): bigint | undefined {
  const decimal = parseDecimal(text);
  if (decimal === undefined) return undefined;
  const { negative, digits, exponent } = decimal;
  if (digits === "") return 0n;
  if (exponent < 0 || digits.length + exponent > MAX_INTEGER_DIGITS) return undefined;
  const magnitude = BigInt(digits + "0".repeat(exponent));
  return negative ? -magnitude : magnitude;
}
