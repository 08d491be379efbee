import type { Offset } from "../../src/core/offset.ts";
import type { DeadLetter } from "../../src/ports/dead-letters.ts";
import type { LetterReader, LettersRead, StoredLetter } from "../../src/ports/letters.ts";
import { type LogBounds, SourceFault } from "../../src/ports/record-source.ts";

/** A dead-letter topic over a list of letters, which may grow: one partition, an offset a letter. */
export class LetterTopic implements LetterReader {
  readonly #letters: () => readonly (DeadLetter & Partial<Pick<StoredLetter, "omitted">>)[];
  /** What retention has deleted. */
  logStart = 0;
  /** Letters of one read, and bytes that one seems to have. */
  perRead = 3;
  bytes = 100;
  away = false;
  missing = false;
  reads = 0;

  constructor(letters: () => readonly (DeadLetter & Partial<Pick<StoredLetter, "omitted">>)[]) {
    this.#letters = letters;
  }

  bounds(): Promise<ReadonlyMap<number, LogBounds>> {
    if (this.away) return Promise.reject(new SourceFault("broker-unreachable", "connection refused"));
    const bounds = { logStart: this.logStart, end: this.#letters().length };
    return Promise.resolve(this.missing ? new Map() : new Map([[0, bounds]]));
  }

  read(_topic: string, partition: number, from: Offset): Promise<LettersRead> {
    this.reads += 1;
    if (this.away) return Promise.reject(new SourceFault("broker-unreachable", "connection refused"));
    if (from < this.logStart) return Promise.resolve({ read: "out-of-range" });
    const page = this.#letters().slice(from, from + this.perRead);
    const letters = page.map((letter, index) => ({
      omitted: {},
      ...letter,
      place: { partition, offset: from + index },
      publishedMs: 7_000 + from + index,
    }));
    const [records, next] = [letters.length, from + letters.length];
    return Promise.resolve({ read: "letters", letters, foreign: 0, records, bytes: records * this.bytes, next });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
