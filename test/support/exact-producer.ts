import { installGuards } from "../../consumers/kafka/index.ts";
import { ExactMessage } from "../../consumers/kafka/guards/produce-request.ts";
import type { RecordHeader } from "../../src/ports/record-batch.ts";
import { withProducer } from "../consumers/kafka/support/producing.ts";

/** A record whose bytes go out exactly as given; what is absent is null. */
export interface ExactRecord {
  readonly key?: Uint8Array | string | null;
  readonly value?: Uint8Array | string | null;
  readonly headers?: readonly (readonly [name: Uint8Array | string, value: Uint8Array | string | null])[];
  /** Now, when absent. −1 is none at all. */
  readonly timestampMs?: number;
}

/** Sends records in one batch to one partition, with headers, nulls and times that kafkajs itself cannot send. */
export async function sendExactly(
  brokers: readonly string[],
  topic: string,
  records: readonly ExactRecord[],
  partition = 0,
): Promise<void> {
  installGuards();
  const messages = records.map(({ key, value, headers = [], timestampMs = Date.now() }) => {
    const exact = new ExactMessage({
      key: bytes(key),
      value: bytes(value),
      headers: headers.map(headerOf),
      timestampMs,
    });
    return Object.assign(exact, { partition });
  });
  await withProducer(brokers, (producer) => producer.send({ topic, messages }));
}

function headerOf([name, value]: NonNullable<ExactRecord["headers"]>[number]): RecordHeader {
  return { name: Buffer.from(name), value: bytes(value) };
}

function bytes(given: Uint8Array | string | null | undefined): Uint8Array | null {
  return given === null || given === undefined ? null : Buffer.from(given);
}
