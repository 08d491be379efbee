import type { DeadLetters } from "../../src/ports/dead-letters.ts";
import type { RecordSource } from "../../src/ports/record-source.ts";
import { KafkaDeadLetters, type DeadLetterOptions } from "./dead-letters/dead-letters.ts";
import { installGuards } from "./guards/index.ts";
import type { LetterReader } from "../../src/ports/letters.ts";
import { KafkaLetterReader } from "./dead-letters/letter-reader.ts";
import { type KafkaContext, requireConnection, resolveSource, type RecordSourceOptions } from "./options.ts";
import { KafkaRecordSource } from "./source/record-source.ts";

export { installGuards };
export { readLetter } from "./dead-letters/letter.ts";
export type { DeadLetterOptions };
export type { KafkaConnection, RecordSourceOptions } from "./options.ts";

/**
 * A record source over Kafka: one topic, one group, one supervised consumer. Nothing connects before `start` or the
 * first question.
 * @throws RangeError for options that contradict each other, GuardMismatch when kafkajs is not as published.
 */
export function createRecordSource(options: RecordSourceOptions): RecordSource {
  installGuards();
  return new KafkaRecordSource(resolveSource(options));
}

/**
 * Dead letters over Kafka, for any number of topics. Nothing connects before the first `publish`.
 * @throws RangeError for a bad broker address, GuardMismatch when kafkajs is not as published.
 */
export function createDeadLetters(options: DeadLetterOptions): DeadLetters {
  installGuards();
  return new KafkaDeadLetters(options);
}

/**
 * A reader of dead-letter topics over Kafka. Nothing connects before the first question.
 * @throws RangeError for a bad broker address, GuardMismatch when kafkajs is not as published.
 */
export function createLetterReader(context: KafkaContext): LetterReader {
  installGuards();
  requireConnection(context);
  return new KafkaLetterReader(context);
}
