/**
 * Messages on a byte stream: uint32 head length · uint32 body length · head as JSON · body. Both ends are this release, so a
 * frame that makes no sense is a broken stream and ends it.
 */

const PREFIX_BYTES = 8;
/** Longer than any head that is ever sent. */
const HEAD_BYTES_MAX = 64 * 1024;
/** Longer than any body that is ever sent: a frame carries at most one cell beyond a chunk. */
const BODY_BYTES_MAX = 1024 ** 3;

/** The stream does not carry frames. */
export class BrokenStream extends Error {}

/** The bytes before a body of `bodyLength` bytes. */
export function encodeHead(head: unknown, bodyLength: number): Buffer {
  const json = Buffer.from(JSON.stringify(head), "utf8");
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + json.length);
  bytes.writeUInt32BE(json.length, 0);
  bytes.writeUInt32BE(bodyLength, 4);
  json.copy(bytes, PREFIX_BYTES);
  return bytes;
}

/** Cuts a byte stream into frames whose heads are `Head`. Each body is a buffer of its own. */
export class FrameReader<Head> {
  readonly #take: (head: Head, body: Buffer) => void;
  #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixLength = 0;
  #head: Buffer | undefined;
  #headLength = 0;
  #body: Buffer | undefined;
  #bodyLength = 0;

  /** `take` is called with each whole frame, in order. */
  constructor(take: (head: Head, body: Buffer) => void) {
    this.#take = take;
  }

  /** Whether what arrived ends within a frame. */
  get cut(): boolean {
    return this.#prefixLength > 0;
  }

  /** Takes what arrived. @throws BrokenStream; what `take` throws */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.#step(chunk, at);
  }

  #step(chunk: Buffer, from: number): number {
    if (this.#head === undefined || this.#body === undefined) return this.#readPrefix(chunk, from);
    let at = from;
    if (this.#headLength < this.#head.length) {
      const copied = chunk.copy(this.#head, this.#headLength, at);
      this.#headLength += copied;
      at += copied;
    }
    if (this.#headLength === this.#head.length && this.#bodyLength < this.#body.length) {
      const copied = chunk.copy(this.#body, this.#bodyLength, at);
      this.#bodyLength += copied;
      at += copied;
    }
    this.#finish();
    return at;
  }

  #readPrefix(chunk: Buffer, from: number): number {
    const copied = chunk.copy(this.#prefix, this.#prefixLength, from);
    this.#prefixLength += copied;
    if (this.#prefixLength === PREFIX_BYTES) {
      const headLength = this.#prefix.readUInt32BE(0);
      const bodyLength = this.#prefix.readUInt32BE(4);
      if (headLength === 0 || headLength > HEAD_BYTES_MAX || bodyLength > BODY_BYTES_MAX) {
        throw new BrokenStream(`a frame of ${headLength} and ${bodyLength} bytes`);
      }
      this.#head = Buffer.allocUnsafe(headLength);
      this.#body = Buffer.allocUnsafeSlow(bodyLength);
    }
    return from + copied;
  }

  #finish(): void {
    const head = this.#head;
    const body = this.#body;
    if (head === undefined || body === undefined) return;
    if (this.#headLength < head.length || this.#bodyLength < body.length) return;
    this.#head = undefined;
    this.#body = undefined;
    this.#prefixLength = 0;
    this.#headLength = 0;
    this.#bodyLength = 0;
    let parsed: Head;
    try {
      parsed = JSON.parse(head.toString("utf8"));
    } catch (error) {
      throw new BrokenStream("a head is no JSON", { cause: error });
    }
    this.#take(parsed, body);
  }
}
