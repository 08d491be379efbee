import type { Cluster } from "kafkajs";
import type { Offset } from "../../../src/core/offset.ts";
import { type RecordRead, SourceFault } from "../../../src/ports/record-source.ts";
import { classifyError, topicMissing } from "../classify-error.ts";
import { FetchedRecords, type FetchedPartition } from "../guards/fetched-records.ts";
import type { ResolvedSource } from "../options.ts";
import { decodeFetch } from "../records/decode-fetch.ts";
import { type ConnectProbe, connectProbe, Questions } from "./questions.ts";
import { RecordView } from "./record-view.ts";
import { Turns } from "./turns.ts";

/** Reads of one source that are under way at once; the others wait. */
const READS_MAX = 2;

/** Reads that may wait; a further one is refused at once. */
const WAITING_MAX = 32;

/** `isolation_level` of a fetch: records of committed transactions only (Kafka protocol, "Fetch API"). */
const READ_COMMITTED = 1;

/** A client, not a replica (Kafka protocol, "Fetch API"). */
const NO_REPLICA = -1;

/** Assignment epoch of what is read outside of any assignment. */
const NO_EPOCH = -1;

/**
 * Reads single stretches of a partition, whoever owns it, on a connection of its own: no group, no position, and neither
 * the fetches of the consumer nor the questions about the log wait behind it.
 */
export class RecordReader {
  readonly #source: ResolvedSource;
  readonly #questions: Questions;
  readonly #turns = new Turns(READS_MAX, WAITING_MAX);

  /** @param connect replaced in tests alone. */
  constructor(source: ResolvedSource, connect: ConnectProbe = connectProbe) {
    this.#source = source;
    this.#questions = new Questions(source, connect);
  }

  /**
   * What the partition holds from `from` on; the first batch comes whole, whatever `maxBytes` says.
   * @throws SourceFault
   */
  async read(partition: number, from: Offset, maxBytes: number): Promise<RecordRead> {
    return this.#turns.take(() =>
      this.#questions.ask("a read of records", async (cluster) => this.#read(cluster, partition, from, maxBytes)),
    );
  }

  /** Shuts the connection for good. Never rejects. */
  close(): void {
    this.#questions.close();
  }

  async #read(cluster: Cluster, partition: number, from: Offset, maxBytes: number): Promise<RecordRead> {
    const { topic, limits } = this.#source;
    const bytes = Math.min(maxBytes, limits.fetchBytesPerPartition);
    const broker = await cluster.findBroker({ nodeId: await leaderOf(cluster, topic, partition) });
    let reply: unknown;
    try {
      reply = await broker.fetch({
        replicaId: NO_REPLICA,
        isolationLevel: READ_COMMITTED,
        maxWaitTime: 0,
        minBytes: 0,
        maxBytes: bytes,
        topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes: bytes }] }],
      });
    } catch (error) {
      if (classifyError(error).type !== "OFFSET_OUT_OF_RANGE") throw error;
      return { read: "out-of-range" };
    }
    return this.#decode(fetchedOf(reply, partition, from), bytes);
  }

  #decode(fetched: FetchedPartition, bytes: number): RecordRead {
    const { partition, position, errorCode } = fetched;
    if (errorCode !== 0) {
      throw new SourceFault("unknown", `the broker cannot read partition ${partition}: error ${errorCode}`);
    }
    const { batchInflatedBytesMax } = this.#source.limits;
    const decoded = decodeFetch(fetched, { batchInflatedBytesMax, fetchInflatedBytes: bytes });
    const { next, fault } = decoded;
    // A fault behind a good prefix is met again by whoever reads on from there.
    if (fault !== undefined && next === position) return { read: "fault", ...fault };
    return { read: "records", batch: new RecordView(NO_EPOCH, fetched, decoded) };
  }
}

async function leaderOf(cluster: Cluster, topic: string, partition: number): Promise<string> {
  await cluster.refreshMetadataIfNecessary();
  const metadata = cluster.findTopicPartitionMetadata(topic);
  if (metadata.length === 0) throw new SourceFault("topic-missing", topicMissing(topic));
  const entry = metadata.find(({ partitionId }) => partitionId === partition);
  if (entry === undefined) throw new SourceFault("topic-missing", `topic ${topic} has no partition ${partition}`);
  if (entry.leader < 0) throw new SourceFault("leaderless", `partition ${partition} has no leader`);
  return String(entry.leader);
}

/** What the response guard left of the one partition that was asked for. */
function fetchedOf(reply: unknown, partition: number, position: Offset): FetchedPartition {
  for (const topic of listOf(reply, "responses")) {
    for (const entry of listOf(topic, "partitions")) {
      const messages: unknown = Reflect.get(entry, "messages");
      if (messages instanceof FetchedRecords && messages.response.partition === partition) {
        return { ...messages.response, position };
      }
    }
  }
  throw new SourceFault("unknown", `the broker's answer does not have partition ${partition}`);
}

function listOf(value: unknown, name: string): readonly object[] {
  const list: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return Array.isArray(list)
    ? list.filter((entry): entry is object => typeof entry === "object" && entry !== null)
    : [];
}
