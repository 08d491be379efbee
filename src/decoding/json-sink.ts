import { textOf } from "./text.ts";

/** Bytes that the sink keeps between records. */
const KEPT_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const HEX = Buffer.from("0123456789abcdef");

/** Letter after the backslash, for characters with a short escape; 0 for the others. */
const SHORT_ESCAPES = new Uint8Array(0x80);
for (const [character, letter] of ['""', "\\\\", "\bb", "\ff", "\nn", "\rr", "\tt"]) {
  SHORT_ESCAPES[character?.charCodeAt(0) ?? 0] = letter?.charCodeAt(0) ?? 0;
}

/** 1 for bytes that JSON text cannot hold as they are. */
const ESCAPED = new Uint8Array(0x100).fill(1, 0, SPACE);
ESCAPED[QUOTE] = 1;
ESCAPED[BACKSLASH] = 1;

/** Up to this many bytes a loop beats a copy by the engine. */
const SHORT = 32;

/** From this many bytes on text goes through the engine's own escaping. */
const LONG = 128;

/** Collects JSON as UTF-8 bytes. Past its limit it drops what comes and says so. */
export class JsonSink {
  readonly #limit: number;
  #bytes = Buffer.alloc(0);
  #length = 0;
  #overflown = false;

  /** `limit` is in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  begin(): void {
    this.#length = 0;
    this.#overflown = false;
    const kept = Math.min(KEPT_BYTES, this.#limit);
    if (this.#bytes.length !== kept) this.#bytes = Buffer.allocUnsafeSlow(kept);
  }

  /** A copy of what was written, or undefined when it was too much. */
  take(): Uint8Array | undefined {
    if (this.#overflown) return undefined;
    const taken = Buffer.allocUnsafeSlow(this.#length);
    this.#bytes.copy(taken, 0, 0, this.#length);
    return taken;
  }

  /** Makes room for `count` bytes more. */
  #room(count: number): boolean {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return true;
    if (needed > this.#limit || this.#overflown) {
      this.#overflown = true;
      return false;
    }
    // Never longer than the limit, so that what fits is within it.
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(needed, this.#bytes.length * 2)));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
    return true;
  }

  /** One ASCII character. */
  byte(code: number): void {
    if (this.#room(1)) this.#bytes[this.#length++] = code;
  }

  raw(bytes: Uint8Array): void {
    if (this.#room(bytes.length)) this.#copy(bytes, 0, bytes.length);
  }

  /** ASCII text as it is. */
  ascii(text: string): void {
    if (!this.#room(text.length)) return;
    if (text.length > SHORT) this.#length += this.#bytes.write(text, this.#length, "latin1");
    else for (let index = 0; index < text.length; index += 1) this.#bytes[this.#length++] = text.charCodeAt(index);
  }

  /** A JSON string from text. */
  text(text: string): void {
    const bytes = Buffer.from(text);
    this.string(bytes, 0, bytes.length);
  }

  /** A JSON string from a range of UTF-8 bytes: escapes what RFC 8259 demands, nothing else. */
  string(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > LONG) {
      this.#longString(textOf(bytes, start, end) ?? "");
      return;
    }
    this.byte(QUOTE);
    let from = start;
    for (let index = start; index < end; index += 1) {
      if (ESCAPED[bytes[index] ?? 0] === 0) continue;
      this.#run(bytes, from, index);
      this.#escape(bytes[index] ?? 0);
      from = index + 1;
    }
    this.#run(bytes, from, end);
    this.byte(QUOTE);
  }

  /** The engine escapes long text faster than a loop, and by the same rules. */
  #longString(text: string): void {
    const literal = JSON.stringify(text);
    if (this.#room(Buffer.byteLength(literal))) this.#length += this.#bytes.write(literal, this.#length);
  }

  #run(bytes: Uint8Array, start: number, end: number): void {
    if (start < end && this.#room(end - start)) this.#copy(bytes, start, end);
  }

  #escape(byte: number): void {
    const letter = SHORT_ESCAPES[byte] ?? 0;
    this.byte(BACKSLASH);
    if (letter !== 0) {
      this.byte(letter);
      return;
    }
    for (const code of [0x75, 0x30, 0x30, HEX[byte >>> 4] ?? 0, HEX[byte & 15] ?? 0]) this.byte(code);
  }

  /** A JSON string with the base64 of a range of bytes, standard alphabet, padded. */
  base64(bytes: Uint8Array, start: number, end: number): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("base64");
    this.byte(QUOTE);
    this.ascii(text);
    this.byte(QUOTE);
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > SHORT) this.#bytes.set(bytes.subarray(start, end), this.#length);
    else for (let index = start; index < end; index += 1) this.#bytes[this.#length + index - start] = bytes[index] ?? 0;
    this.#length += end - start;
  }
}
