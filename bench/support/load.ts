/** Records that a seed makes again and again: what is produced, and what it is compared with later. */
export interface Load {
  /** How many it makes in all. */
  readonly records: number;
  /** The present record's key and value: the first `keyBytes` and `valueBytes` of them. Valid until the next call. */
  readonly key: Uint8Array;
  readonly keyBytes: number;
  readonly value: Uint8Array;
  readonly valueBytes: number;
  /** Makes the next record; false when all are made. */
  next(): boolean;
}

/** A byte array that protobuf fields are written to, one after the other; its numbers stay below 2^53. */
export class FieldWriter {
  readonly bytes: Uint8Array;
  length = 0;

  constructor(bytes: number) {
    this.bytes = new Uint8Array(bytes);
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType);
  }

  varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bytes[this.length++] = (rest % 0x80) | 0x80;
    this.bytes[this.length++] = rest;
  }

  text(field: number, text: Uint8Array, bytes = text.length): void {
    this.tag(field, 2);
    this.varint(bytes);
    for (let index = 0; index < bytes; index += 1) this.bytes[this.length + index] = text[index] ?? 0;
    this.length += bytes;
  }

  /** A Timestamp message without its nanoseconds. */
  seconds(field: number, seconds: number): void {
    this.tag(field, 2);
    const at = this.length++;
    this.tag(1, 0);
    this.varint(seconds);
    this.bytes[at] = this.length - at - 1;
  }

  uint32(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.bytes[this.length++] = (value >>> shift) & 0xff;
  }
}

/** Writes `number` with `digits` decimal digits at `at`. */
export function putDigits(target: Uint8Array, at: number, number: number, digits: number): void {
  let rest = number;
  for (let index = at + digits - 1; index >= at; index -= 1) {
    target[index] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
