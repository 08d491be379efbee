import { isUtf8 } from "node:buffer";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Up to this many bytes a loop over ASCII beats a call into the engine. */
const SHORT = 24;

/** Whether a range of bytes is UTF-8. */
export function isText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) {
    if ((bytes[index] ?? 0) >= 0x80) return isUtf8(bytes.subarray(index, end));
    if (index - start > SHORT) return isUtf8(bytes.subarray(start, end));
  }
  return true;
}

/** Decodes a range of UTF-8 bytes strictly; undefined when it is not UTF-8. A byte order mark is a character like any. */
export function textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start <= SHORT) {
    const short = asciiOf(bytes, start, end);
    if (short !== undefined) return short;
  }
  try {
    return UTF8.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Decodes a short range of ASCII; undefined at the first other byte. */
function asciiOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = "";
  let index = start;
  for (; index + 4 <= end; index += 4) {
    const a = bytes[index] ?? 0;
    const b = bytes[index + 1] ?? 0;
    const c = bytes[index + 2] ?? 0;
    const d = bytes[index + 3] ?? 0;
    if ((a | b | c | d) >= 0x80) return undefined;
    text += String.fromCharCode(a, b, c, d);
  }
  for (; index < end; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte >= 0x80) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}
