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
  try {
    return UTF8.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Decodes a range that is known to be ASCII. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT) return UTF8.decode(bytes.subarray(start, end));
  let text = "";
  let index = start;
  // One call per eight characters: the engine makes each chunk in one piece.
  for (; index + 8 <= end; index += 8) text += eightOf(bytes, index);
  return index === end ? text : text + fewOf(bytes, index, end - index);
}

function eightOf(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(
    bytes[at] ?? 0,
    bytes[at + 1] ?? 0,
    bytes[at + 2] ?? 0,
    bytes[at + 3] ?? 0,
    bytes[at + 4] ?? 0,
    bytes[at + 5] ?? 0,
    bytes[at + 6] ?? 0,
    bytes[at + 7] ?? 0,
  );
}

function fewOf(bytes: Uint8Array, at: number, count: number): string {
  const a = bytes[at] ?? 0;
  const b = bytes[at + 1] ?? 0;
  const c = bytes[at + 2] ?? 0;
  const d = bytes[at + 3] ?? 0;
  switch (count) {
    case 0:
      return "";
    case 1:
      return String.fromCharCode(a);
    case 2:
      return String.fromCharCode(a, b);
    case 3:
      return String.fromCharCode(a, b, c);
    case 4:
      return String.fromCharCode(a, b, c, d);
    case 5:
      return String.fromCharCode(a, b, c, d, bytes[at + 4] ?? 0);
    case 6:
      return String.fromCharCode(a, b, c, d, bytes[at + 4] ?? 0, bytes[at + 5] ?? 0);
    default:
      return String.fromCharCode(a, b, c, d, bytes[at + 4] ?? 0, bytes[at + 5] ?? 0, bytes[at + 6] ?? 0);
  }
}
