import type { RecordSource } from "../../src/ports/record-source.ts";
import { installGuards } from "./guards/index.ts";
import { resolveSource, type RecordSourceOptions } from "./options.ts";
import { KafkaRecordSource } from "./source/record-source.ts";

export { GuardMismatch } from "./guards/pin.ts";
export { installGuards };
export { FETCH_LIMITS, SOURCE_TIMINGS } from "./options.ts";
export type { FetchLimits, KafkaConnection, KafkaContext, RecordSourceOptions, SourceTimings } from "./options.ts";

/**
 * A record source over Kafka: one topic, one group, one supervised consumer. Nothing connects before `start` or the
 * first question.
 * @throws RangeError for options that contradict each other, GuardMismatch when kafkajs is not as published.
 */
export function createRecordSource(options: RecordSourceOptions): RecordSource {
  installGuards();
  return new KafkaRecordSource(resolveSource(options));
}
