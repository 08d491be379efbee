/** Rewrites what a broker answers, frame by frame; see `TcpProxy`. Layouts: the Kafka protocol guide, Fetch version 11. */

const FETCH = 1;
const FETCH_VERSION = 11;
const OUT_OF_RANGE = 1;

/** Splits a stream of bytes into the protocol's frames: four bytes of length, then that many. */
class Frames {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete now, their lengths included. */
  take(bytes: Buffer): readonly Buffer[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const frames: Buffer[] = [];
    while (this.#rest.length >= 4 && this.#rest.length >= 4 + this.#rest.readInt32BE(0)) {
      const end = 4 + this.#rest.readInt32BE(0);
      frames.push(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}

/** One connection whose Fetch answers can be changed on their way to the client. */
export class FetchAnswers {
  readonly #asked = new Frames();
  readonly #answered = new Frames();
  readonly #fetches = new Set<number>();
  readonly #partitions: () => ReadonlySet<number>;

  /** `partitions`: of every topic, whose fetches are answered with OFFSET_OUT_OF_RANGE, asked at each answer. */
  constructor(partitions: () => ReadonlySet<number>) {
    this.#partitions = partitions;
  }

  /** What the client sends, only looked at. @throws Error when it speaks another version of Fetch than is known here */
  asked(bytes: Buffer): void {
    for (const frame of this.#asked.take(bytes)) {
      if (frame.readInt16BE(4) !== FETCH) continue;
      if (frame.readInt16BE(6) !== FETCH_VERSION) throw new Error(`Fetch in version ${frame.readInt16BE(6)}`);
      this.#fetches.add(frame.readInt32BE(8));
    }
  }

  /** What the client is to get instead of `bytes`. */
  answered(bytes: Buffer): Buffer {
    const frames = this.#answered.take(bytes);
    return Buffer.concat(
      frames.map((frame) => (this.#fetches.delete(frame.readInt32BE(4)) ? this.#spoil(frame) : frame)),
    );
  }

  #spoil(frame: Buffer): Buffer {
    const wanted = this.#partitions();
    if (wanted.size === 0) return frame;
    const spoilt = Buffer.from(frame);
    // Correlation id, throttle time, error, session id.
    let at = 4 + 4 + 4 + 2 + 4;
    const topics = spoilt.readInt32BE(at);
    at += 4;
    for (let topic = 0; topic < topics; topic += 1) {
      at += 2 + spoilt.readInt16BE(at);
      const count = spoilt.readInt32BE(at);
      at += 4;
      for (let index = 0; index < count; index += 1) {
        if (wanted.has(spoilt.readInt32BE(at))) spoilt.writeInt16BE(OUT_OF_RANGE, at + 4);
        // Partition, error, high watermark, last stable offset, log start; aborted transactions; preferred replica; records.
        at += 4 + 2 + 8 + 8 + 8;
        at += 4 + 16 * Math.max(spoilt.readInt32BE(at), 0) + 4;
        at += 4 + Math.max(spoilt.readInt32BE(at), 0);
      }
    }
    return spoilt;
  }
}
