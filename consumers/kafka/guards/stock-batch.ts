import { FetchedRecords } from "./fetched-records.ts";
import type { StockBatch } from "./internals.ts";
import { loadFunctions, loadInternal, requireFile } from "./pin.ts";

type BatchClass = new (topic: string, fetchedOffset: string, partitionData: object) => StockBatch;
type DecoderClass = new (bytes: Buffer) => object;
type DecodeMessages = (decoder: object) => Promise<object>;
type ErrorFromCode = (code: number) => Error;

interface ErrorModule {
  createErrorFromCode: ErrorFromCode;
}

interface StockParts {
  readonly Batch: BatchClass;
  readonly Decoder: DecoderClass;
  readonly decodeMessages: DecodeMessages;
  readonly createErrorFromCode: ErrorFromCode;
}

let parts: StockParts | undefined;

/** Loads what {@link toStockBatch} needs. @throws GuardMismatch when it is not as published. */
export function loadStockParts(): void {
  const decodePath = "src/protocol/requests/fetch/v4/decodeMessages.js";
  requireFile(decodePath, "d9fede59bebf84ee");
  requireFile("src/consumer/batch.js", "04ee865724744159");
  const { createErrorFromCode } = loadFunctions<ErrorModule>("src/protocol/error.js", ["createErrorFromCode"]);
  parts = {
    createErrorFromCode,
    Batch: loadInternal("src/consumer/batch.js", isBatchClass),
    Decoder: loadInternal("src/protocol/decoder.js", isDecoderClass),
    decodeMessages: loadInternal(decodePath, isDecodeMessages),
  };
}

function isBatchClass(value: unknown): value is BatchClass {
  return typeof value === "function";
}

function isDecoderClass(value: unknown): value is DecoderClass {
  return typeof value === "function";
}

function isDecodeMessages(value: unknown): value is DecodeMessages {
  return typeof value === "function";
}

/**
 * Decodes a batch as kafkajs itself would have: for consumers in this process that are not ours (tools, tests).
 * @throws what kafkajs would have thrown, an error of the partition included.
 */
export async function toStockBatch(batch: StockBatch): Promise<StockBatch> {
  if (parts === undefined || !(batch.rawMessages instanceof FetchedRecords)) return batch;
  const { response, fields } = batch.rawMessages;
  if (response.errorCode !== 0) throw parts.createErrorFromCode(response.errorCode);
  const sized = Buffer.alloc(4 + response.bytes.length);
  sized.writeInt32BE(response.bytes.length, 0);
  response.bytes.copy(sized, 4);
  const messages = await parts.decodeMessages(new parts.Decoder(sized));
  return new parts.Batch(batch.topic, batch.fetchedOffset, { ...fields, messages });
}
