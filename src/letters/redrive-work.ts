import { createHash } from "node:crypto";
import type { RedriveSpec } from "../control/redrive-spec.ts";
import { isFault } from "../core/fault.ts";
import { EMPTY_RECEIPT, type JobPartition, type JobStep, type Receipt } from "../core/job/job.ts";
import type { Offset } from "../core/offset.ts";
import { cellOf, judge, letterOf } from "../fleet/fold.ts";
import type { VersionedVerdict } from "../fleet/verdicts.ts";
import type { DeadLetter } from "../ports/dead-letters.ts";
import type { JobWork } from "../ports/jobs.ts";
import type { CellWrite } from "../ports/kv-plane.ts";
import type { StoredLetter } from "../ports/letters.ts";
import type { LogBounds } from "../ports/record-source.ts";
import { bytesOf, pinned, recordOf } from "./letter-batch.ts";
import { type LetterScan, LookBudget, readLetters } from "./letter-scan.ts";
import type { Standing } from "./origin-table.ts";
import type { RedriveParts } from "./redrive-executor.ts";
import { matches } from "./redrive-request.ts";

/** Attempts of one record, live reading included. Beyond it a redrive applies it if it can, and publishes no further letter. */
export const LETTER_ATTEMPTS_MAX = 10;

/** What one step deals with. */
const STEP_LETTERS = 200;
const STEP_BYTES = 2_097_152;
/** What one step looks through while the standing letters are not known yet. */
const SCAN_BYTES = 8_388_608;
const SCAN_MS = 300;
/** How long a dry run looks for the standing letters. */
const SAMPLE_SCAN_MS = 3_000;
const SAMPLE_SCAN_BYTES = 67_108_864;

/** Asked for to fetch one record from its own log: the first batch comes whole. */
const RECORD_BYTES = 4_096;

/** What one redrive runs on. */
export interface RedriveWorkParts extends RedriveParts {
  readonly source: string;
  readonly verdict: VersionedVerdict;
  readonly spec: RedriveSpec;
  readonly scan: LetterScan;
  /** What of the dead-letter topic belongs to it, now. @throws SourceFault */
  readonly bounds: () => Promise<ReadonlyMap<number, LogBounds>>;
}

/** Letters that were judged. */
interface JudgedLetters {
  readonly writes: readonly CellWrite[];
  readonly letters: readonly DeadLetter[];
  readonly read: number;
  readonly bytes: number;
  /** Neither: the record is gone from its log and the letter is without it, or it was tried often enough. */
  readonly failed: number;
  /** Of all that cannot be applied. */
  readonly faults: number;
}

/**
 * Runs a redrive partition by partition, in the order of offsets, one letter per origin: the one that stands below the ends of
 * the submission. What it publishes lies behind those, so it never meets its own letters, and a step that is repeated after a crash
 * publishes the same attempt once more, which changes nothing.
 */
export class RedriveWork implements JobWork {
  readonly #parts: RedriveWorkParts;
  #sorted: { readonly partition: number; readonly origins: readonly Standing[] } | undefined;
  /** Letters of the last stretches that were read, by place. */
  #read = new Map<string, StoredLetter>();

  constructor(parts: RedriveWorkParts) {
    this.#parts = parts;
  }

  async step(entry: JobPartition): Promise<JobStep> {
    const { scan, clock, plane, fleet, source } = this.#parts;
    const bounds = await this.#parts.bounds();
    if (!scan.complete(bounds)) {
      await scan.advance(bounds, new LookBudget(clock, SCAN_BYTES, SCAN_MS));
      if (!scan.complete(bounds)) return { next: entry.next, receipt: EMPTY_RECEIPT };
    }
    const { letters, next } = await this.#take(entry);
    const judged = await this.#judge(letters);
    const receipts = judged.writes.length === 0 ? [] : await plane.writeWithReceipts(judged.writes);
    const service = fleet.service(source);
    if (judged.letters.length > 0) await service.parts.letters.publish(this.#parts.spec.topic, judged.letters);
    const count = (outcome: string) => receipts.filter((receipt) => receipt.outcome === outcome).length;
    const receipt: Receipt = {
      read: judged.read,
      bytes: judged.bytes,
      applied: count("applied"),
      alreadyApplied: count("already-applied"),
      superseded: count("superseded"),
      deadLettered: judged.letters.length,
      failed: judged.failed,
    };
    return { next, receipt };
  }

  /** A dry run: judges the first letters of a partition, and applies nothing. @throws KvFault, SourceFault, StreamsError */
  async sample(
    partition: number,
  ): Promise<{ readonly records: number; readonly bytes: number; readonly failed: number }> {
    const { scan, clock } = this.#parts;
    const bounds = await this.#parts.bounds();
    await scan.advance(bounds, new LookBudget(clock, SAMPLE_SCAN_BYTES, SAMPLE_SCAN_MS));
    if (!scan.complete(bounds)) return { records: 0, bytes: 0, failed: 0 };
    const { letters } = await this.#take({ partition, next: 0, to: Number.MAX_SAFE_INTEGER });
    const { read, bytes, faults } = await this.#judge(letters);
    return { records: read, bytes, failed: faults };
  }

  close(): Promise<void> {
    this.#read.clear();
    this.#sorted = undefined;
    return Promise.resolve();
  }

  /** The next letters of a partition, and where its next step goes on. */
  async #take({ partition, next, to }: Pick<JobPartition, "partition" | "next" | "to">) {
    const origins = this.#originsOf(partition);
    const letters: StoredLetter[] = [];
    let bytes = 0;
    let at = firstAtOrAbove(origins, next);
    for (; at < origins.length; at += 1) {
      const origin = origins[at];
      if (origin === undefined || origin.offset >= to) break;
      // Topic epochs share offsets: all letters of one offset go in one step, for it goes on by offset.
      const whole = origins[at - 1]?.offset !== origin.offset;
      if (whole && (letters.length >= STEP_LETTERS || bytes >= STEP_BYTES)) return { letters, next: origin.offset };
      const letter = await this.#letterAt(origin);
      if (letter === undefined || !matches(letter, this.#parts.spec.match)) continue;
      letters.push(letter);
      bytes += bytesOf(letter);
    }
    return { letters, next: to };
  }

  #originsOf(partition: number): readonly Standing[] {
    if (this.#sorted?.partition !== partition) {
      const origins = [...this.#parts.scan.table.entries()]
        .filter((origin) => origin.partition === partition)
        .toSorted((a, b) => a.offset - b.offset || a.topicEpoch - b.topicEpoch);
      this.#sorted = { partition, origins };
    }
    return this.#sorted.origins;
  }

  /** The standing letter of an origin; undefined when retention has taken it since. */
  async #letterAt({ place }: Standing): Promise<StoredLetter | undefined> {
    const name = placeName(place);
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const { reader, spec, scan } = this.#parts;
    const read = await readLetters(reader, spec.topic, place.partition, place.offset);
    this.#read = new Map(
      (read?.letters ?? [])
        .filter((letter) => scan.table.stands(letter))
        .map((letter) => [placeName(letter.place), letter]),
    );
    return this.#read.get(name);
  }

  async #judge(letters: readonly StoredLetter[]): Promise<JudgedLetters> {
    const { verdict, clock } = this.#parts;
    const context = { ledger: pinned(verdict.revision), verdictOf: () => verdict };
    const writes: CellWrite[] = [];
    const again: DeadLetter[] = [];
    let [bytes, failed, faults] = [0, 0, 0];
    for (const letter of letters) {
      const whole = await this.#whole(letter);
      bytes += bytesOf(whole ?? letter);
      if (whole === undefined) {
        failed += 1;
        faults += 1;
        continue;
      }
      const { topicEpoch } = letter;
      const record = recordOf(whole);
      const { result } = judge(record, 0, context);
      if (!isFault(result)) {
        writes.push(cellOf(record, 0, verdict, result, topicEpoch));
        continue;
      }
      faults += 1;
      const attempt = letter.attempt + 1;
      if (attempt > LETTER_ATTEMPTS_MAX) {
        failed += 1;
        continue;
      }
      const made = letterOf(record, 0, verdict, result, { topicEpoch, nowMs: clock.now() });
      again.push({ ...made, attempt, firstSeenMs: letter.firstSeenMs });
    }
    return { writes, letters: again, read: letters.length, bytes, failed, faults };
  }

  /** A letter with all of its record: what it does not carry is fetched from the record's own log, and compared. */
  async #whole(letter: StoredLetter): Promise<StoredLetter | undefined> {
    const { omitted, partition, offset } = letter;
    if (omitted.value === undefined && omitted.key === undefined && omitted.headers === undefined) return letter;
    const { source } = this.#parts.fleet.service(this.#parts.source).parts;
    const read = await source.read(partition, offset, RECORD_BYTES);
    if (read.read !== "records" || read.batch.count === 0 || read.batch.offsetAt(0) !== offset) return undefined;
    const [key, value] = [read.batch.keyAt(0), read.batch.valueAt(0)];
    const same =
      isSame(omitted.value, value) && isSame(omitted.key, key) && read.batch.timestampAt(0) === letter.timestampMs;
    return same ? { ...letter, key, value, headers: read.batch.headersAt(0) } : undefined;
  }
}

/** Whether these bytes are what a letter left out; where it left out nothing, they are not asked about. */
function isSame(omitted: StoredLetter["omitted"]["value"], bytes: Uint8Array | null): boolean {
  if (omitted === undefined) return true;
  if (bytes === null || bytes.length !== omitted.bytes) return false;
  return createHash("sha256").update(bytes).digest("hex") === omitted.sha256;
}

function placeName({ partition, offset }: StoredLetter["place"]): string {
  return `${partition}/${offset}`;
}

function firstAtOrAbove(origins: readonly Standing[], offset: Offset): number {
  let [low, high] = [0, origins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((origins[middle]?.offset ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
