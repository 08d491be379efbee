import type { TrialSpec } from "../../control/trial-spec.ts";
import { EMPTY_RECEIPT, type Job, type JobPartition, type JobStep } from "../../core/job/job.ts";
import type { Offset } from "../../core/offset.ts";
import type { Verdict } from "../../fleet/verdicts.ts";
import { bytesOf, LogStretches } from "../../jobs/log-stretch.ts";
import { recordOf } from "../../letters/letter-batch.ts";
import { readLetters } from "../../letters/letter-scan.ts";
import type { JobWork } from "../../ports/jobs.ts";
import type { LetterReader } from "../../ports/letters.ts";
import type { RecordBatch } from "../../ports/record-batch.ts";
import type { RecordSource } from "../../ports/record-source.ts";
import { fieldsOf, TrialSide } from "./trial-side.ts";

/** Dead letters of one source that are decoded, and how much of their topic is looked through for them. */
const LETTERS_MAX = 10_000;
const LETTERS_BYTES = 67_108_864;

/** The two that are compared, made anew for each use: what they count is this use's own. */
export interface TrialVerdicts {
  readonly inForce: () => Promise<Verdict>;
  readonly candidate: () => Promise<Verdict>;
}

/** What one trial runs on. */
export interface TrialWorkParts {
  readonly source: string;
  readonly log: RecordSource;
  readonly reader: LetterReader;
  readonly spec: TrialSpec;
  readonly verdicts: TrialVerdicts;
}

interface Sides {
  readonly inForce: TrialSide;
  readonly candidate: TrialSide;
}

/**
 * Decodes records with two verdicts side by side. What it finds is in memory until its end: whoever takes it over reads again
 * what was decoded before it came.
 */
export class TrialWork implements JobWork {
  readonly #parts: TrialWorkParts;
  readonly #stretches: LogStretches;
  readonly #sides: Sides;
  /** Where this process began, by partition. */
  readonly #began = new Map<number, Offset>();
  #records = 0;

  private constructor(parts: TrialWorkParts, sides: Sides) {
    this.#parts = parts;
    this.#stretches = new LogStretches(parts.log);
    this.#sides = sides;
  }

  /** @throws KvFault; StreamsError where one of the two does not compile */
  static async open(parts: TrialWorkParts): Promise<TrialWork> {
    return new TrialWork(parts, await sidesOf(parts.verdicts));
  }

  async step(entry: JobPartition): Promise<JobStep> {
    const stretch = await this.#stretches.next(entry);
    if (!this.#began.has(entry.partition)) this.#began.set(entry.partition, entry.next);
    if (stretch.batch === undefined) return stretch.step;
    const { batch, next } = stretch;
    const before = this.#sides.candidate.failed;
    this.#take(batch);
    const failed = this.#sides.candidate.failed - before;
    return { next, receipt: { ...EMPTY_RECEIPT, read: batch.count, bytes: bytesOf(batch), failed } };
  }

  #take(batch: RecordBatch): void {
    this.#records += batch.count;
    this.#sides.inForce.take(batch);
    this.#sides.candidate.take(batch);
  }

  async finish({ partitions }: Job): Promise<unknown> {
    for (const entry of partitions) await this.#again(entry);
    const { inForce, candidate } = this.#sides;
    const { spec } = this.#parts;
    return {
      records: this.#records,
      inForce: inForce.result(),
      candidate: candidate.result(),
      fields: {
        gained: beyond(inForce, candidate),
        lost: beyond(candidate, inForce),
        differences: spec.differences,
      },
      ...(spec.letters === undefined ? {} : { deadLetters: await this.#letters(spec.letters) }),
    };
  }

  /** Decodes what another process did before this one took over. */
  async #again(entry: JobPartition): Promise<void> {
    const to = this.#began.get(entry.partition) ?? entry.next;
    for (let { from } = entry; from < to;) {
      const stretch = await this.#stretches.next({ ...entry, next: from, to });
      if (stretch.batch === undefined) {
        const { lost } = stretch.step;
        if (lost === undefined) return;
        from = lost.to;
      } else {
        this.#take(stretch.batch);
        from = stretch.next;
      }
      this.#began.set(entry.partition, entry.from);
    }
  }

  /** One letter of each record, whichever attempt: its value is the same. */
  async #letters({ topic, ends }: NonNullable<TrialSpec["letters"]>) {
    const { reader, source, verdicts } = this.#parts;
    const sides = await sidesOf(verdicts);
    const bounds = await reader.bounds(topic);
    const seen = new Set<string>();
    let [bytes, withoutValue, complete] = [0, 0, true];
    for (const { partition, end } of ends) {
      let next = bounds.get(partition)?.logStart ?? end;
      while (next < end) {
        if (seen.size >= LETTERS_MAX || bytes >= LETTERS_BYTES) {
          complete = false;
          break;
        }
        const read = await readLetters(reader, topic, partition, next);
        if (read === undefined || read.next <= next) break;
        bytes += read.bytes;
        next = read.next;
        for (const letter of read.letters) {
          const origin = `${letter.topicEpoch} ${letter.partition} ${letter.offset}`;
          if (letter.source !== source || letter.place.offset >= end || seen.has(origin)) continue;
          seen.add(origin);
          if (letter.omitted.value !== undefined || letter.omitted.key !== undefined) withoutValue += 1;
          else for (const side of [sides.inForce, sides.candidate]) side.take(recordOf(letter));
        }
      }
    }
    const [inForce, candidate] = [sides.inForce.result(), sides.candidate.result()];
    return { records: seen.size, withoutValue, complete, inForce, candidate };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function sidesOf({ inForce, candidate }: TrialVerdicts): Promise<Sides> {
  return { inForce: new TrialSide(await inForce()), candidate: new TrialSide(await candidate()) };
}

/** Fields that the one does not know and the other does. */
function beyond({ unknown }: TrialSide, other: TrialSide) {
  const known = other.unknown;
  return fieldsOf(new Map([...unknown].filter(([path]) => path !== "*" && !known.has(path))));
}
