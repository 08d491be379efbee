import type { Offset } from "../../../src/core/offset.ts";
import type { LetterReader, LettersRead, StoredLetter } from "../../../src/ports/letters.ts";
import type { RecordBatch } from "../../../src/ports/record-batch.ts";
import { type LogBounds, type RecordSource, SourceFault } from "../../../src/ports/record-source.ts";
import { resolveSource, type KafkaContext } from "../options.ts";
import { KafkaRecordSource } from "../source/record-source.ts";
import { readLetter } from "./letter.ts";

/** Topics that are kept connected: those that were asked for last. */
const TOPICS_MAX = 4;
const DISCARD_MS = 1_000;

/** Named in requests, never joined: only the consumer of a source joins a group. */
const NO_GROUP = "ysearch-streams.letters";

/** Reads letters over a record source that never starts: its questions and its reads need no group. */
export class KafkaLetterReader implements LetterReader {
  readonly #context: KafkaContext;
  /** By topic, the one asked for last at the end. */
  readonly #sources = new Map<string, RecordSource>();
  #closed = false;

  constructor(context: KafkaContext) {
    this.#context = context;
  }

  async bounds(topic: string): Promise<ReadonlyMap<number, LogBounds>> {
    const known = new Map<number, LogBounds>();
    for (const [partition, answer] of await this.#answers(topic)) {
      if (answer.known) known.set(partition, answer);
      else throw new SourceFault(answer.cause, `partition ${partition} of ${topic}: ${answer.text}`);
    }
    return known;
  }

  async read(topic: string, partition: number, from: Offset, maxBytes: number): Promise<LettersRead> {
    const read = await this.#source(topic).read(partition, from, maxBytes);
    return read.read === "records" ? lettersOf(read.batch) : read;
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed = true;
    const sources = [...this.#sources.values()];
    this.#sources.clear();
    await Promise.all(sources.map((source) => source.stop(deadlineMs)));
  }

  async #answers(topic: string) {
    try {
      return await this.#source(topic).bounds();
    } catch (error) {
      if (error instanceof SourceFault && error.code === "topic-missing") return new Map<number, never>();
      throw error;
    }
  }

  #source(topic: string): RecordSource {
    if (this.#closed) throw new SourceFault("unknown", "the reader of dead letters is closed");
    const source =
      this.#sources.get(topic) ?? new KafkaRecordSource(resolveSource({ ...this.#context, topic, group: NO_GROUP }));
    this.#sources.delete(topic);
    this.#sources.set(topic, source);
    const [oldest] = this.#sources;
    if (oldest !== undefined && this.#sources.size > TOPICS_MAX) {
      this.#sources.delete(oldest[0]);
      void oldest[1].stop(DISCARD_MS);
    }
    return source;
  }
}

function lettersOf(batch: RecordBatch): LettersRead {
  const letters: StoredLetter[] = [];
  for (let index = 0; index < batch.count; index += 1) {
    const read = readLetter(batch.headersAt(index));
    if (read === undefined) continue;
    letters.push({
      ...read,
      key: batch.keyAt(index),
      value: batch.valueAt(index),
      place: { partition: batch.partition, offset: batch.offsetAt(index) },
      publishedMs: batch.timestampAt(index),
    });
  }
  const { count, byteLength, next } = batch;
  return { read: "letters", letters, foreign: count - letters.length, records: count, bytes: byteLength, next };
}
