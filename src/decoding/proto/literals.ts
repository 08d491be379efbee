const SIMPLE: ReadonlyMap<string, number> = new Map([
  ["a", 0x07],
  ["b", 0x08],
  ["f", 0x0c],
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
  ["v", 0x0b],
  ["?", 0x3f],
  ["\\", 0x5c],
  ["'", 0x27],
  ['"', 0x22],
]);
const OCTAL = /[0-7]{1,3}/y;
const HEX = /[xX]([0-9a-fA-F]{1,2})/y;
const UNICODE = /u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})/y;
const PLAIN = /[^\\\n\0"']+/y;

/**
 * Reads a string literal of a .proto file from behind its opening quote: what it means and where it ends, or what is wrong
 * with it. Escapes are those of C and of Unicode; bytes that are no UTF-8, as a default of a bytes field may have them,
 * become U+FFFD.
 */
export function readLiteral(source: string, start: number, quote: string): { text: string; end: number } | string {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const next = source.charAt(at);
    if (next === quote) return { text: Buffer.concat(parts).toString(), end: at + 1 };
    if (next === "" || next === "\n") return "a string is not closed";
    if (next === "\0") return "a string has a NUL";
    const read = next === "\\" ? readEscape(source, at + 1) : { bytes: plain(source, at), end: at };
    if (typeof read === "string") return read;
    parts.push(read.bytes);
    at = next === "\\" ? read.end : PLAIN.lastIndex;
  }
}

/** A run of characters without a meaning of their own, or one quote of the other kind. */
function plain(source: string, at: number): Buffer {
  PLAIN.lastIndex = at;
  const run = PLAIN.exec(source)?.[0];
  PLAIN.lastIndex = at + (run?.length ?? 1);
  return Buffer.from(run ?? source.charAt(at));
}

function readEscape(source: string, at: number): { bytes: Buffer; end: number } | string {
  const simple = SIMPLE.get(source.charAt(at));
  if (simple !== undefined) return { bytes: Buffer.from([simple]), end: at + 1 };
  const octal = match(OCTAL, source, at);
  if (octal !== null) return byteOf(Number.parseInt(octal[0], 8), OCTAL.lastIndex);
  const hex = match(HEX, source, at);
  if (hex !== null) return byteOf(Number.parseInt(hex[1] ?? "", 16), HEX.lastIndex);
  return readCodePoint(source, at);
}

function byteOf(value: number, end: number): { bytes: Buffer; end: number } | string {
  return value > 0xff ? "an octal escape is larger than a byte" : { bytes: Buffer.from([value]), end };
}

function readCodePoint(source: string, at: number): { bytes: Buffer; end: number } | string {
  const first = match(UNICODE, source, at);
  if (first === null) return "a string has an escape that does not exist";
  let end = UNICODE.lastIndex;
  let point = Number.parseInt(first[1] ?? first[2] ?? "", 16);
  if (point >= 0xd800 && point < 0xdc00 && source.charAt(end) === "\\") {
    const second = match(UNICODE, source, end + 1);
    const low = Number.parseInt(second?.[1] ?? second?.[2] ?? "", 16);
    if (low >= 0xdc00 && low < 0xe000) {
      point = 0x1_0000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      end = UNICODE.lastIndex;
    }
  }
  if (point > 0x10_ffff || (point >= 0xd800 && point < 0xe000)) return "a string has an escape of no character";
  return { bytes: Buffer.from(String.fromCodePoint(point)), end };
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}
