import { formatOffset, parseOffset, type Offset } from "../core/offset.ts";
import type { KindName } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Clock } from "../ports/clock.ts";
import type { Kind } from "../ports/kind.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import type { LetterPage, LetterQueries, LetterQuery, LetterReader, StoredLetter } from "../ports/letters.ts";
import type { LogBounds } from "../ports/record-source.ts";
import { isOf, LetterScan, LookBudget, readLetters, type ScanOf } from "./letter-scan.ts";
import { LetterStates } from "./letter-states.ts";
import { matches, originsOf } from "./redrive-request.ts";

/** Letters of one answer without `limit`, and at most. */
export const LETTERS_SHOWN = 50;
export const LETTERS_SHOWN_MAX = 200;

/** What one request looks at, at most: bytes of the dead-letter topic, and time. */
const LOOK_BYTES = 33_554_432;
const LOOK_MS = 4_000;

/** A page with raw bytes ends after as many. */
const RAW_BYTES = 4_194_304;

/** Requests at once. */
const AT_ONCE_MAX = 4;

/** Scans that are kept to go on with, and how long: a topic that was made anew is gone through anew at last. */
const SCANS_MAX = 4;
const SCAN_MS = 600_000;
/** Origins that all kept scans may know together. */
const KEPT_ORIGINS_MAX = 600_000;

/** What dead letters are read with. */
export interface LetterParts {
  readonly fleet: Pick<Fleet, "inForce">;
  readonly reader: LetterReader;
  readonly plane: KvPlane;
  readonly kinds: ReadonlyMap<KindName, Kind>;
  readonly clock: Clock;
}

interface Place {
  readonly partition: number;
  readonly offset: Offset;
}

/** Lists dead letters, one per origin, by pages of their topic. */
export class LetterService implements LetterQueries {
  readonly #parts: LetterParts;
  readonly #states: LetterStates;
  /** The one that was used last at the end. */
  readonly #scans = new Map<string, LetterScan>();
  #busy = 0;

  constructor(parts: LetterParts) {
    this.#parts = parts;
    this.#states = new LetterStates(parts.plane, parts.kinds);
  }

  async list(source: string, query: LetterQuery): Promise<LetterPage> {
    if (this.#busy >= AT_ONCE_MAX)
      throw new StreamsError("DEAD_LETTERS_BUSY", `${AT_ONCE_MAX} questions about dead letters are under way`);
    this.#busy += 1;
    try {
      return await this.#list(source, query);
    } finally {
      this.#busy -= 1;
    }
  }

  async #list(source: string, query: LetterQuery): Promise<LetterPage> {
    const { fleet, reader, clock } = this.#parts;
    const { definition } = fleet.inForce(source);
    const topic = definition.deadLetterTopic;
    const at = readCursor(query.cursor);
    const bounds = await reader.bounds(topic);
    const scan = this.#scan({ source, topic, ranges: [originsOf(query)] }, bounds);
    const budget = new LookBudget(clock, LOOK_BYTES, LOOK_MS);
    await scan.advance(bounds, budget);
    const known = {
      topic,
      looked: scan.looked(bounds),
      origins: scan.table.size,
      asOf: clock.now(),
    };
    if (!scan.complete(bounds)) return { ...known, letters: [], next: cursorText(at) };
    const { letters, next } = await this.#walk(scan, bounds, at, query, budget);
    const states = await this.#states.of(definition, letters);
    return {
      ...known,
      letters: letters.map((letter, index) => ({ letter, state: states[index] ?? "unknown" })),
      ...(next === undefined ? {} : { next: cursorText(next) }),
    };
  }

  /** A scan of the same letters goes on; the others are let go when they are old, or too many. */
  #scan(of: ScanOf, bounds: ReadonlyMap<number, LogBounds>): LetterScan {
    const { reader, clock } = this.#parts;
    const name = JSON.stringify(of);
    const kept = this.#scans.get(name);
    const usable = kept !== undefined && !kept.outlived(bounds) && clock.now() - kept.startedAt < SCAN_MS;
    const scan = usable ? kept : new LetterScan(reader, of, clock.now());
    this.#scans.delete(name);
    this.#scans.set(name, scan);
    const origins = () => [...this.#scans.values()].reduce((sum, { table }) => sum + table.size, 0);
    for (const [oldest] of this.#scans) {
      if (oldest === name || (this.#scans.size <= SCANS_MAX && origins() <= KEPT_ORIGINS_MAX)) break;
      this.#scans.delete(oldest);
    }
    return scan;
  }

  /** Goes through the topic from `at` on and takes what stands and matches, until the page is full or the budget spent. */
  async #walk(
    scan: LetterScan,
    bounds: ReadonlyMap<number, LogBounds>,
    at: Place,
    query: LetterQuery,
    budget: LookBudget,
  ): Promise<{ readonly letters: readonly StoredLetter[]; readonly next: Place | undefined }> {
    const page = new PageOfLetters(query);
    const partitions = [...bounds.keys()].filter((partition) => partition >= at.partition).toSorted((a, b) => a - b);
    let first = true;
    for (const partition of partitions) {
      const { logStart, end } = bounds.get(partition) ?? { logStart: 0, end: 0 };
      let next = Math.max(partition === at.partition ? at.offset : 0, logStart);
      while (next < end) {
        // One read in any case: a page that looks at nothing would never end.
        if (budget.spent && !first) return { letters: page.letters, next: { partition, offset: next } };
        first = false;
        const read = await readLetters(this.#parts.reader, scan.of.topic, partition, next);
        if (read === undefined) break;
        budget.spend(read.bytes);
        for (const letter of read.letters) {
          if (letter.place.offset >= end || !isOf(letter, scan.of) || !scan.table.stands(letter)) continue;
          if (matches(letter, query) && !page.take(letter)) return { letters: page.letters, next: letter.place };
        }
        if (read.next <= next) break;
        next = read.next;
      }
    }
    return { letters: page.letters, next: undefined };
  }
}

/** Letters of one answer, copied out of what was fetched. */
class PageOfLetters {
  readonly letters: StoredLetter[] = [];
  readonly #limit: number;
  readonly #raw: boolean;
  #bytes = 0;

  constructor({ limit, raw }: LetterQuery) {
    this.#limit = limit ?? LETTERS_SHOWN;
    this.#raw = raw === true;
  }

  /** False: the page is full. */
  take(letter: StoredLetter): boolean {
    if (this.letters.length === this.#limit || this.#bytes >= RAW_BYTES) return false;
    const copy = this.#raw ? copied(letter) : { ...letter, key: copyOf(letter.key), value: null, headers: [] };
    this.#bytes += (copy.key?.length ?? 0) + (copy.value?.length ?? 0);
    for (const { name, value } of copy.headers) this.#bytes += name.length + (value?.length ?? 0);
    this.letters.push(copy);
    return true;
  }
}

function copied(letter: StoredLetter): StoredLetter {
  const headers = letter.headers.map(({ name, value }) => ({ name: new Uint8Array(name), value: copyOf(value) }));
  return { ...letter, key: copyOf(letter.key), value: copyOf(letter.value), headers };
}

/** Of its own: a slice would keep all that it was fetched with. */
function copyOf(bytes: Uint8Array | null): Uint8Array | null {
  return bytes === null ? null : new Uint8Array(bytes);
}

/** `0/4711`: partition and offset of the dead-letter topic. */
function cursorText({ partition, offset }: Place): string {
  return `${partition}/${formatOffset(offset)}`;
}

function readCursor(text: string | undefined): Place {
  if (text === undefined) return { partition: 0, offset: 0 };
  const [, partition = "", place = ""] = /^(0|[1-9][0-9]{0,9})\/(0|[1-9][0-9]{0,15})$/.exec(text) ?? [];
  const offset = parseOffset(place);
  if (offset === undefined) throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of this query");
  return { partition: Number(partition), offset };
}
