import type { DeadLetter, DeadLetters } from "../../../src/ports/dead-letters.ts";
import { SourceFault } from "../../../src/ports/record-source.ts";
import { classifyError, toSourceFault } from "../classify-error.ts";
import { withDeadline } from "../client/deadline.ts";
import { requireConnection, type KafkaContext } from "../options.ts";
import { LETTER_FORMS, letterBytes, letterRecord, type LetterForm } from "./letter.ts";
import { Publisher, type DeadLetterTopic, type PublisherTimings } from "./publisher.ts";

/** Options of `createDeadLetters`. */
export interface DeadLetterOptions extends KafkaContext {
  /** Whether a topic that does not exist is created; otherwise publishing fails, and the caller holds, until it exists. */
  readonly createMissing?: boolean;
  /** How a topic that does not exist is created. */
  readonly topic?: Partial<DeadLetterTopic>;
  readonly timings?: Partial<PublisherTimings & { readonly publishMs: number }>;
}

const DAY_MS = 24 * 3_600_000;
const MIB = 1024 * 1024;
/** A letter is its record and about a kilobyte: it has to fit where the record fitted. */
const TOPIC: DeadLetterTopic = { partitions: 1, retentionMs: 30 * DAY_MS, maxMessageBytes: 16 * MIB };
const TIMINGS = { connectMs: 10_000, requestMs: 15_000, publishMs: 45_000 };
/** Letters of one request; well below the default message size, so that a batch is not refused for its company. */
const CHUNK_BYTES = MIB / 2;
const DISCARD_MS = 1_000;

const TOO_LARGE = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);

/** Dead letters over kafkajs. After any failure the producer is thrown away: kafkajs keeps a missing topic in mind. */
export class KafkaDeadLetters implements DeadLetters {
  readonly #options: DeadLetterOptions;
  readonly #topic: DeadLetterTopic;
  readonly #timings: PublisherTimings & { readonly publishMs: number };
  #publisher: Publisher | undefined;
  #closed = false;
  /** The publication under way; never rejects. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: DeadLetterOptions) {
    requireConnection(options);
    this.#options = options;
    this.#topic = { ...TOPIC, ...options.topic };
    this.#timings = { ...TIMINGS, ...options.timings };
  }

  /** One publication at a time: a failed one throws the producer away, which must not be another one's at work. */
  publish(topic: string, letters: readonly DeadLetter[]): Promise<void> {
    const published = this.#last.then(() => this.#publish(topic, letters));
    this.#last = published.catch(() => undefined);
    return published;
  }

  async #publish(topic: string, letters: readonly DeadLetter[]): Promise<void> {
    if (this.#closed) throw new SourceFault("unknown", "dead letters are closed");
    const { clock } = this.#options;
    try {
      await withDeadline(clock, this.#timings.publishMs, `publish to ${topic}`, this.#publishAll(topic, letters));
    } catch (error) {
      this.#discard();
      throw toSourceFault(error);
    }
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed = true;
    const publisher = this.#publisher;
    this.#publisher = undefined;
    await publisher?.close(deadlineMs);
  }

  async #publishAll(topic: string, letters: readonly DeadLetter[]): Promise<void> {
    for (const chunk of chunksOf(letters)) await this.#publishChunk(topic, chunk);
  }

  /** Tries the letters together; when they are too large for the topic each by itself, with less and less of it. */
  async #publishChunk(topic: string, chunk: readonly DeadLetter[]): Promise<void> {
    if (await this.#fits(topic, chunk, "whole")) return;
    for (const letter of chunk) await this.#publishReduced(topic, letter, chunk.length === 1 ? 1 : 0);
  }

  async #publishReduced(topic: string, letter: DeadLetter, from: number): Promise<void> {
    for (const form of LETTER_FORMS.slice(from)) {
      if (await this.#fits(topic, [letter], form)) return;
    }
    throw new SourceFault("unknown", `topic ${topic} refuses even a letter's coordinates as too large`);
  }

  /** False when the topic refuses the letters as too large. @throws for any other failure. */
  async #fits(topic: string, letters: readonly DeadLetter[], form: LetterForm): Promise<boolean> {
    const now = this.#options.clock.now();
    const records = letters.map((letter) => letterRecord(letter, form, now));
    try {
      await this.#current().send(topic, records);
      return true;
    } catch (error) {
      const { code, type } = classifyError(error);
      if (type !== undefined && TOO_LARGE.has(type)) return false;
      if (code !== "topic-missing") throw error;
      if (this.#options.createMissing === false) {
        throw new SourceFault(
          "topic-missing",
          `the dead-letter topic ${topic} does not exist and createDeadLetterTopic is off: create it, for example with` +
            ` kafka-topics.sh --create --topic ${topic} --partitions 1 --config max.message.bytes=${this.#topic.maxMessageBytes}`,
          { cause: error },
        );
      }
    }
    this.#options.logger.info({ topic, ...this.#topic }, "creating a dead-letter topic");
    this.#discard();
    await this.#current().createTopic(topic, this.#topic);
    await this.#current().send(topic, records);
    return true;
  }

  #current(): Publisher {
    if (this.#closed) throw new SourceFault("unknown", "dead letters are closed");
    this.#publisher ??= new Publisher(this.#options, this.#timings);
    return this.#publisher;
  }

  #discard(): void {
    const publisher = this.#publisher;
    this.#publisher = undefined;
    if (publisher !== undefined) void publisher.close(DISCARD_MS);
  }
}

function chunksOf(letters: readonly DeadLetter[]): DeadLetter[][] {
  const chunks: DeadLetter[][] = [];
  let bytes = CHUNK_BYTES;
  for (const letter of letters) {
    const size = letterBytes(letter);
    if (bytes + size > CHUNK_BYTES) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(letter);
    bytes += size;
  }
  return chunks;
}
