import type { Offset } from "../core/offset.ts";
import type { DeadLetter } from "./dead-letters.ts";
import type { LogBounds } from "./record-source.ts";

/** How a part of a record that a letter does not carry can be recognised in the record's own log. */
export interface OmittedPart {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** A letter as it lies in its dead-letter topic. */
export interface StoredLetter extends DeadLetter {
  /** Where it lies: partition and offset of the dead-letter topic. */
  readonly place: { readonly partition: number; readonly offset: Offset };
  /** When it was published, milliseconds since 1970. */
  readonly publishedMs: number;
  /** What was too large for the topic: then `value` or `key` is null, or `headers` are none. */
  readonly omitted: {
    readonly value?: OmittedPart;
    readonly key?: OmittedPart;
    /** Number of the headers that were left out. */
    readonly headers?: number;
  };
}

/**
 * One read of a partition of a dead-letter topic. `letters` may be none. `foreign`: records that are no letters, since anybody
 * may write to a topic. Up to `next` everything was looked at; at the end `next` is where it was read.
 */
export type LettersRead =
  | {
      readonly read: "letters";
      readonly letters: readonly StoredLetter[];
      readonly foreign: number;
      /** Records looked at, and about how many bytes they took. */
      readonly records: number;
      readonly bytes: number;
      readonly next: Offset;
    }
  /** The log has no such offset any more. */
  | { readonly read: "out-of-range" }
  /** What begins there cannot be turned into records. */
  | { readonly read: "fault"; readonly code: string; readonly text: string };

/** Reads dead-letter topics: no group, no position, nobody's way. */
export interface LetterReader {
  /**
   * What each partition of the topic holds; empty where there is no such topic, which is one without letters.
   * @throws SourceFault, also when one partition's bounds are unknown: letters would be missed without a word
   */
  bounds(topic: string): Promise<ReadonlyMap<number, LogBounds>>;
  /** Reads one stretch; the first batch of records comes whole. @throws SourceFault */
  read(topic: string, partition: number, from: Offset, maxBytes: number): Promise<LettersRead>;
  close(deadlineMs: number): Promise<void>;
}

/**
 * What has become of a letter's record since.
 *
 * - `open`: nothing; the store does not hold it, or holds what an older revision made of it.
 * - `applied`: the store holds what a later revision made of this very record (a redrive, a replay).
 * - `superseded`: the store holds something newer under its key.
 * - `recounted`: counting kinds: the listed row that covers it was counted under a later revision, with it if that can decode it.
 * - `unknown`: the letter does not carry its key, so nobody can look.
 */
export const LETTER_STATES = ["open", "applied", "superseded", "recounted", "unknown"] as const;
/** One of {@link LETTER_STATES}. */
export type LetterState = (typeof LETTER_STATES)[number];

/** Which origins a set of letters is about; undefined members do not narrow. `[from, to)` are offsets of the source's own topic. */
export interface OriginFilter {
  readonly partition?: number;
  readonly from?: Offset;
  readonly to?: Offset;
}

/** Which letters; undefined members do not narrow. */
export interface LetterQuery extends OriginFilter {
  readonly code?: string;
  readonly revision?: number;
  readonly descriptorVersion?: number;
  readonly cursor?: string;
  readonly limit?: number;
  /** With what the record holds: its pages are shorter. */
  readonly raw?: boolean;
}

/** The letter that stands for one origin. */
export interface LetterView {
  readonly letter: StoredLetter;
  readonly state: LetterState;
}

/** Letters in the order of the dead-letter topic, and how far its letters are known. */
export interface LetterPage {
  readonly topic: string;
  readonly letters: readonly LetterView[];
  /** Cursor of the rest, absent at the end. A page may be empty and have one. */
  readonly next?: string;
  /** Records of the dead-letter topic that are looked through, of those that it holds: below the end no letter is shown yet. */
  readonly looked: { readonly records: number; readonly of: number };
  /** Distinct origins among them, by the filter of origins. */
  readonly origins: number;
  readonly asOf: number;
}

/** Reads of dead letters. */
export interface LetterQueries {
  /**
   * One letter per origin: the one with the highest attempt, the last of equals.
   * @throws StreamsError SOURCE_UNKNOWN, CURSOR_UNKNOWN, DEAD_LETTERS_TOO_MANY, DEAD_LETTERS_BUSY, RECORD_UNREADABLE; KvFault, SourceFault
   */
  list(source: string, query: LetterQuery): Promise<LetterPage>;
}
