import { compareBytes } from "../core/cell.ts";
import type { Offset } from "../core/offset.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { ExplainKeyView, Looked } from "../ports/explain.ts";
import type { RecordBatch } from "../ports/record-batch.ts";
import type { LogBounds, RecordSource } from "../ports/record-source.ts";

/** Offsets of one step back in one partition. */
const WINDOW = 2_000;

/** Bytes asked for at once. */
const READ_BYTES = 524_288;

/** Bytes looked at in all. */
export const KEY_SEARCH_BYTES_MAX = 33_554_432;

/** Longest search: below the longest that any answer may take. */
export const KEY_SEARCH_MS_MAX = 8_000;

/** Partitions that are read at once. */
const AT_ONCE = 2;

/** One record of the key, in the batch that it was read in. */
export interface FoundRecord {
  readonly batch: RecordBatch;
  readonly index: number;
}

/** What a search found, and how far it looked. */
export interface KeySearch extends Pick<ExplainKeyView, "ended" | "looked"> {
  readonly found: readonly FoundRecord[];
}

interface Lane {
  readonly partition: number;
  readonly logStart: Offset;
  readonly end: Offset;
  /** Looked at from here to the end. */
  from: Offset;
}

/**
 * Looks for the newest records of a key, from the end of every partition backwards in step: whoever produced it may have
 * partitioned as he liked. Bounded in bytes and time. Works on a reader's turn, never on a live position.
 */
export class KeySearcher {
  readonly #source: Pick<RecordSource, "read">;
  readonly #clock: Clock;
  readonly #key: Uint8Array;
  readonly #found: FoundRecord[] = [];
  #bytes = 0;
  #until = 0;

  constructor(source: Pick<RecordSource, "read">, clock: Clock, key: Uint8Array) {
    this.#source = source;
    this.#clock = clock;
    this.#key = key;
  }

  /** @throws SourceFault; StreamsError RECORD_UNREADABLE */
  async search(bounds: ReadonlyMap<number, LogBounds>, last: number): Promise<KeySearch> {
    this.#until = this.#clock.monotonic() + KEY_SEARCH_MS_MAX;
    const lanes = [...bounds].map(([partition, { logStart, end }]): Lane => ({ partition, logStart, end, from: end }));
    let ended: KeySearch["ended"] | undefined;
    while (ended === undefined) {
      const open = lanes.filter(({ from, logStart }) => from > logStart);
      await atOnce(open, AT_ONCE, async (lane) => this.#stepBack(lane));
      if (this.#found.length >= last) ended = "found";
      else if (lanes.every(({ from, logStart }) => from <= logStart)) ended = "whole-log";
      else if (this.#bytes >= KEY_SEARCH_BYTES_MAX) ended = "bytes";
      else if (this.#clock.monotonic() >= this.#until) ended = "time";
    }
    const looked = lanes.map(({ partition, from, end, logStart }): Looked => {
      return { partition, from, to: end, whole: from <= logStart };
    });
    return { found: this.#found, ended, looked };
  }

  /** One window back; one that bytes or time do not allow to finish does not count as looked at. */
  async #stepBack(lane: Lane): Promise<void> {
    const to = lane.from;
    const from = Math.max(lane.logStart, to - WINDOW);
    const found: FoundRecord[] = [];
    let at = from;
    while (at < to) {
      if (this.#bytes >= KEY_SEARCH_BYTES_MAX || this.#clock.monotonic() >= this.#until) return;
      const batch = await this.#read(lane.partition, at);
      // Retention has moved on, or the log ends before its bounds said so.
      if (batch === undefined || batch.next <= at) break;
      this.#bytes += batch.byteLength;
      for (let index = 0; index < batch.count; index += 1) {
        if (batch.offsetAt(index) < to && this.#matches(batch.keyAt(index))) found.push({ batch, index });
      }
      at = batch.next;
    }
    this.#found.push(...found);
    lane.from = from;
  }

  async #read(partition: number, from: Offset): Promise<RecordBatch | undefined> {
    const read = await this.#source.read(partition, from, READ_BYTES);
    if (read.read === "fault") throw unreadable(partition, from, read.code);
    return read.read === "records" ? read.batch : undefined;
  }

  #matches(key: Uint8Array | null): boolean {
    return key !== null && compareBytes(key, this.#key) === 0;
  }
}

/** What begins at an offset cannot be turned into records. */
export function unreadable(partition: number, offset: Offset, code: string): StreamsError {
  return new StreamsError("RECORD_UNREADABLE", `partition ${partition}, offset ${offset}: ${code}`);
}

async function atOnce<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
    }),
  );
}
