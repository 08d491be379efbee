import type { AbortedTransaction } from "../records/aborted.ts";
import { FetchedRecords, type PartitionResponse } from "./fetched-records.ts";
import { loadFunctions, requireFile } from "./pin.ts";

interface ResponseModule {
  decode: (bytes: Buffer) => Promise<object>;
  parse: (response: object) => Promise<object>;
}

interface FetchResponse {
  readonly responses: ReadonlyArray<{ readonly partitions: readonly PartitionFields[] }>;
}

interface PartitionFields {
  readonly errorCode: number;
}

/**
 * Errors of one partition that neither a refresh of the metadata nor a rejoin heals: an unexpected error of the broker
 * (−1), a corrupt log (2), a replica away (9), a disk error (56), a compression it cannot read (76), a high watermark
 * that is not known yet (78).
 */
const OF_ONE_PARTITION = new Set([-1, 2, 9, 56, 76, 78]);

/** Fetch response versions that carry record batches, and the digest of the file that decodes each. */
const VERSIONS: ReadonlyArray<readonly [version: number, digest: string]> = [
  [4, "e854933fa63e3b4b"],
  [5, "1e58c4d4cbbaf6c6"],
  [6, "bb6d38ea1dd5d6f7"],
  [7, "4ae978ae62b17c7d"],
  [8, "e7324cd257fe0086"],
  [9, "39b02fa944883861"],
  [10, "6664b89aed627218"],
  [11, "9cb972647500104e"],
];

/**
 * G5, first half. Published behaviour: an object of a dozen fields per record; a damaged, oversized or unknown batch
 * of one partition, and any error of one, throws away the whole response and in the end kills the consumer. Guarded: the
 * response's records stay bytes (see {@link FetchedRecords}), and whoever owns the partition decodes them; an error that
 * concerns one partition alone stays with it.
 *
 * Only members of the exported objects are replaced: kafkajs looks them up there at each response, so that it does not
 * matter what was loaded before.
 */
export function guardFetchResponse(): void {
  for (const [version, digest] of VERSIONS) {
    const path = `src/protocol/requests/fetch/v${version}/response.js`;
    requireFile(path, digest);
    const response = loadFunctions<ResponseModule>(path, ["decode", "parse"]);
    const original = response.parse;
    response.decode = async (bytes) => decodeFetchResponse(bytes, version);
    response.parse = async (data) => {
      await original(withoutPartitionErrors(data));
      return data;
    };
  }
}

/** For kafkajs' check, which throws the first error of any partition and with it the records of all the others. */
function withoutPartitionErrors(data: object): object {
  if (!isFetchResponse(data)) return data;
  const responses = data.responses.map((topic) => ({
    ...topic,
    partitions: topic.partitions.filter(({ errorCode }) => !OF_ONE_PARTITION.has(errorCode)),
  }));
  return { ...data, responses };
}

function isFetchResponse(data: object): data is FetchResponse {
  return "responses" in data && Array.isArray(data.responses);
}

/**
 * Decodes a fetch response of version 4 to 11 (Apache Kafka's protocol documentation, "Fetch API") into the object
 * that kafkajs' own decoder returns, with {@link FetchedRecords} as each partition's messages.
 * @throws RangeError when the response is cut or malformed.
 */
export function decodeFetchResponse(bytes: Buffer, version: number): object {
  const reader = new ResponseReader(bytes);
  const throttleMs = reader.int32();
  const session = version >= 7 ? { errorCode: reader.int16(), sessionId: reader.int32() } : {};
  const responses = reader.array(() => ({
    topicName: reader.string(),
    partitions: reader.array(() => decodePartition(reader, version)),
  }));
  // From version 8 on the client throttles itself (KIP-219), which kafkajs expects under another name.
  const throttle =
    version >= 8 ? { throttleTime: 0, clientSideThrottleTime: throttleMs } : { throttleTime: throttleMs };
  return { ...throttle, ...session, responses };
}

function decodePartition(reader: ResponseReader, version: number): object {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64();
  const lastStableOffset = reader.int64();
  const logStart = version >= 5 ? reader.int64() : -1n;
  const aborted = reader.array((): AbortedTransaction => {
    const producerId = reader.int64();
    return { producerId, firstOffset: Number(reader.int64()) };
  });
  const preferredReadReplica = version >= 11 ? reader.int32() : -1;
  const response: PartitionResponse = {
    partition,
    errorCode,
    bytes: reader.bytes(),
    highWatermark: Number(highWatermark),
    lastStableOffset: Number(lastStableOffset),
    logStart: Number(logStart),
    aborted,
  };
  const fields = {
    partition,
    errorCode,
    highWatermark: String(highWatermark),
    lastStableOffset: String(lastStableOffset),
    lastStartOffset: String(logStart),
    abortedTransactions: aborted.map(({ producerId, firstOffset }) => ({
      producerId: String(producerId),
      firstOffset: String(firstOffset),
    })),
    preferredReadReplica,
  };
  return { ...fields, messages: new FetchedRecords(response, fields) };
}

/** Reads the fixed-width fields of a response; Buffer's own bounds checks throw RangeError. */
class ResponseReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  int16(): number {
    this.#at += 2;
    return this.#buffer.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#buffer.readInt32BE(this.#at - 4);
  }

  int64(): bigint {
    this.#at += 8;
    return this.#buffer.readBigInt64BE(this.#at - 8);
  }

  string(): string {
    return this.#take(this.int16()).toString("utf8");
  }

  /** Length and bytes; null (−1) is none. */
  bytes(): Buffer {
    return this.#take(Math.max(0, this.int32()));
  }

  /** Count and elements; null (−1) is none. */
  array<T>(read: () => T): T[] {
    const count = this.int32();
    const elements: T[] = [];
    for (let index = 0; index < count; index += 1) elements.push(read());
    return elements;
  }

  #take(length: number): Buffer {
    if (length < 0 || this.#at + length > this.#buffer.length) throw new RangeError("a fetch response is cut");
    this.#at += length;
    return this.#buffer.subarray(this.#at - length, this.#at);
  }
}
