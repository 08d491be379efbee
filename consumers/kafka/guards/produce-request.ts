import { encodeBatch, type RecordToEncode } from "../records/encode-batch.ts";
import { cachedModule, GuardMismatch, loadInternal, requireFile } from "./pin.ts";

/** Produce request versions with record batches, and the digest of the file that builds each. */
const VERSIONS: ReadonlyArray<readonly [version: number, digest: string]> = [
  [3, "993a3db997827088"],
  [4, "0dc2643c0e3c51ad"],
  [5, "1d5dab00092a1dbd"],
  [6, "d19ff7d6cdad42cb"],
  [7, "bc64c2f2d7feb31a"],
];

/** A message for kafkajs' producer whose bytes go out exactly as they are: see {@link ExactMessage.record}. */
export class ExactMessage {
  /** For the partitioner alone. */
  readonly key: Buffer | null;
  /** kafkajs insists on a value being there. */
  readonly value: Buffer | null;
  readonly record: RecordToEncode;

  constructor(record: RecordToEncode) {
    this.record = record;
    this.key = record.key === null ? null : Buffer.from(record.key);
    this.value = record.value === null ? null : Buffer.from(record.value);
  }
}

interface PartitionData {
  readonly partition: number;
  readonly messages: readonly object[];
}

interface ProduceArguments {
  readonly acks: number;
  readonly timeout: number;
  readonly topicData: ReadonlyArray<{ readonly topic: string; readonly partitions: readonly PartitionData[] }>;
}

type BuildRequest = (args: ProduceArguments) => object;
type EncoderClass = new () => { writeBuffer(bytes: Buffer): object };

/**
 * Published behaviour: headers are an object, so that repeated names lose their place, names must be strings, and a
 * null value throws. With {@link ExactMessage} the request's records are encoded by ourselves; every other message goes
 * the published way. The request functions are replaced in the module cache, where kafkajs asks for them each time.
 */
export function guardProduceRequest(): void {
  const Encoder = loadInternal("src/protocol/encoder.js", isEncoderClass);
  for (const [version, digest] of VERSIONS) {
    const path = `src/protocol/requests/produce/v${version}/request.js`;
    requireFile(path, digest);
    const module = cachedModule(path);
    const original = module.exports;
    if (!isBuildRequest(original)) throw new GuardMismatch(`${path} does not export a function`);
    module.exports = (args: ProduceArguments): object => {
      const request = original(args);
      if (!isExact(args)) return request;
      return { ...request, encode: async () => new Encoder().writeBuffer(encodeProduce(args)) };
    };
  }
}

function isExact(args: ProduceArguments): boolean {
  return args.topicData.some(({ partitions }) =>
    partitions.some(({ messages }) => messages.some((message) => message instanceof ExactMessage)),
  );
}

/** Produce request, versions 3 to 7: transactional id, acks, timeout, topics of partitions of record batches. */
function encodeProduce(args: ProduceArguments): Buffer {
  const topics = args.topicData.map(({ topic, partitions }) =>
    Buffer.concat([string(topic), int32(partitions.length), ...partitions.flatMap(encodePartition)]),
  );
  return Buffer.concat([int16(-1), int16(args.acks), int32(args.timeout), int32(topics.length), ...topics]);
}

function encodePartition({ partition, messages }: PartitionData): Buffer[] {
  const records = messages.filter((message) => message instanceof ExactMessage).map((message) => message.record);
  if (records.length !== messages.length) throw new TypeError("exact and other messages in one request");
  const batch = encodeBatch(records);
  return [int32(partition), int32(batch.length), batch];
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([int16(bytes.length), bytes]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function isBuildRequest(value: unknown): value is BuildRequest {
  return typeof value === "function";
}

function isEncoderClass(value: unknown): value is EncoderClass {
  return typeof value === "function";
}
