import type { Broker, Cluster } from "kafkajs";
import type { Offset } from "../../../src/core/offset.ts";
import {
  SourceFault,
  type BoundsAnswer,
  type TopicIdentity,
  type TopicRetention,
} from "../../../src/ports/record-source.ts";
import { classifyError, topicMissing } from "../classify-error.ts";
import type { ResolvedSource } from "../options.ts";
import { type ConnectProbe, connectProbe, Questions } from "./questions.ts";
import { readRetention } from "./retention.ts";

const NO_LEADER = -1;

/** The topic's partitions by whether a broker leads them now. */
interface Partitions {
  readonly led: readonly number[];
  readonly leaderless: readonly number[];
}

/**
 * Questions about the topic and the group, on a connection of their own. kafkajs' admin client fails a whole topic over
 * one partition and keeps a deleted topic in mind for ever, so the cluster beneath it is asked directly, and after any
 * failure it is thrown away and built anew.
 */
export class Probe {
  readonly #source: ResolvedSource;
  readonly #questions: Questions;

  /** @param connect replaced in tests alone. */
  constructor(source: ResolvedSource, connect: ConnectProbe = connectProbe) {
    this.#source = source;
    this.#questions = new Questions(source, connect);
  }

  /** @throws SourceFault */
  async committed(): Promise<ReadonlyMap<number, Offset | undefined>> {
    return this.#questions.ask("committed offsets", async (cluster) => {
      const { topic, group } = this.#source;
      const { led, leaderless } = await this.#partitions(cluster);
      const coordinator = await cluster.findGroupCoordinator({ groupId: group });
      const wanted = [...led, ...leaderless].map((partition) => ({ partition, offset: "0" }));
      try {
        const asked = [{ topic, partitions: wanted }];
        const { responses } = await coordinator.offsetFetch({ groupId: group, topics: asked });
        const answers = responses.flatMap((response) => response.partitions);
        return new Map(answers.map(({ partition, offset }) => [partition, committedOf(offset)]));
      } catch (error) {
        // Apache Kafka answers −1 for a group that it does not know, others say so.
        if (classifyError(error).type !== "GROUP_ID_NOT_FOUND") throw error;
        return new Map(wanted.map(({ partition }) => [partition, undefined]));
      }
    });
  }

  /** @throws SourceFault */
  async bounds(): Promise<ReadonlyMap<number, BoundsAnswer>> {
    return this.#questions.ask("log bounds", async (cluster) => {
      const { led, leaderless } = await this.#partitions(cluster);
      const answers = new Map<number, BoundsAnswer>();
      for (const partition of leaderless) {
        answers.set(partition, { known: false, cause: "leaderless", text: "the partition has no leader" });
      }
      await this.#boundsOf(cluster, led, answers);
      return answers;
    });
  }

  /** @throws SourceFault */
  async offsetsAt(timestampMs: number): Promise<ReadonlyMap<number, Offset>> {
    return this.#questions.ask("offsets by time", async (cluster) => {
      const { led } = await this.#partitions(cluster);
      const ends = await this.#list(cluster, led, { fromBeginning: false });
      const found = await this.#list(cluster, led, { fromTimestamp: timestampMs });
      return new Map(led.map((partition) => [partition, atOrEnd(found.get(partition), ends.get(partition))]));
    });
  }

  /** @throws SourceFault */
  async identity(): Promise<TopicIdentity> {
    return this.#questions.ask("topic identity", async (cluster) => {
      const { topic } = this.#source;
      const metadata = await (await anyBroker(cluster)).metadata([topic]);
      const clusterId: unknown = Reflect.get(metadata, "clusterId");
      const entry = metadata.topicMetadata.find((candidate) => candidate.topic === topic);
      if (entry === undefined) throw new SourceFault("topic-missing", topicMissing(topic));
      return {
        clusterId: typeof clusterId === "string" ? clusterId : "",
        topic,
        partitions: entry.partitionMetadata.length,
      };
    });
  }

  /** @throws SourceFault */
  async retention(): Promise<TopicRetention> {
    return this.#questions.ask("retention", async (cluster) =>
      readRetention(await anyBroker(cluster), this.#source.topic),
    );
  }

  /** Makes the group forget a member; one that it does not know is no error. @throws SourceFault */
  async leave(memberId: string): Promise<void> {
    await this.#questions.ask("leave for a dead member", async (cluster) => {
      const groupId = this.#source.group;
      const coordinator = await cluster.findGroupCoordinator({ groupId });
      if (!canLeave(coordinator)) throw new SourceFault("unknown", "kafkajs cannot leave a group");
      try {
        await coordinator.leaveGroup({ groupId, memberId });
      } catch (error) {
        if (classifyError(error).type !== "UNKNOWN_MEMBER_ID") throw error;
      }
    });
  }

  /** Shuts the connection for good. Never rejects. */
  close(): void {
    this.#questions.close();
  }

  async #boundsOf(cluster: Cluster, led: readonly number[], answers: Map<number, BoundsAnswer>): Promise<void> {
    try {
      const [starts, ends, acknowledged] = await Promise.all([
        this.#list(cluster, led, { fromBeginning: true }),
        this.#list(cluster, led, { fromBeginning: false }),
        this.#list(uncommitted(cluster), led, { fromBeginning: false }),
      ]);
      for (const partition of led) {
        const answer = boundsAnswer(starts.get(partition), ends.get(partition), acknowledged.get(partition));
        answers.set(partition, answer);
      }
    } catch (error) {
      const { code, text } = classifyError(error, this.#source.topic);
      const [only] = led;
      if (led.length > 1) {
        // One partition's error fails the whole request: each is asked by itself, so that it spoils its own answer only.
        await Promise.all(led.map(async (partition) => this.#boundsOf(cluster, [partition], answers)));
      } else if (only !== undefined) {
        answers.set(only, { known: false, cause: code, text });
      }
    }
  }

  async #list(
    cluster: Cluster,
    partitions: readonly number[],
    at: { fromBeginning: boolean } | { fromTimestamp: number },
  ): Promise<ReadonlyMap<number, Offset>> {
    if (partitions.length === 0) return new Map();
    const wanted = partitions.map((partition) => ({ partition }));
    const topics = await cluster.fetchTopicsOffset([{ topic: this.#source.topic, partitions: wanted, ...at }]);
    const answers = topics.flatMap((topic) => topic.partitions);
    return new Map(answers.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  async #partitions(cluster: Cluster): Promise<Partitions> {
    const { topic } = this.#source;
    await cluster.refreshMetadata();
    const metadata = cluster.findTopicPartitionMetadata(topic);
    if (metadata.length === 0) throw new SourceFault("topic-missing", topicMissing(topic));
    const led = metadata.filter((entry) => entry.leader !== NO_LEADER);
    const leaderless = metadata.filter((entry) => entry.leader === NO_LEADER);
    return { led: led.map((entry) => entry.partitionId), leaderless: leaderless.map((entry) => entry.partitionId) };
  }
}

function committedOf(offset: string): Offset | undefined {
  const value = Number(offset);
  return value >= 0 ? value : undefined;
}

function boundsAnswer(
  start: Offset | undefined,
  end: Offset | undefined,
  highWatermark: Offset | undefined,
): BoundsAnswer {
  if (start === undefined || end === undefined || start < 0 || end < 0) {
    return { known: false, cause: "unknown", text: "the broker did not say" };
  }
  const beyond = highWatermark !== undefined && highWatermark > end;
  return { known: true, logStart: start, end, ...(beyond ? { highWatermark } : {}) };
}

/** READ_UNCOMMITTED in Kafka's protocol: a list of offsets then ends at the high watermark. */
const READ_UNCOMMITTED = 0;

/** The same cluster, asked for what transactions that are open hold back, too. */
function uncommitted(cluster: Cluster): Cluster {
  const asked: Cluster = Object.create(cluster, { isolationLevel: { value: READ_UNCOMMITTED } });
  return asked;
}

function atOrEnd(found: Offset | undefined, end: Offset | undefined): Offset {
  if (found !== undefined && found >= 0) return found;
  if (end === undefined || end < 0) throw new SourceFault("unknown", "the broker did not say where the log ends");
  return end;
}

/** The first broker that can be reached: one of them may be down. */
async function anyBroker(cluster: Cluster): Promise<Broker> {
  let failure: unknown = new SourceFault("broker-unreachable", "no broker is known");
  for (const nodeId of cluster.getNodeIds()) {
    try {
      return await cluster.findBroker({ nodeId: String(nodeId) });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

interface CanLeave {
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
}

/** kafkajs has the request, its types do not. */
function canLeave(broker: Broker): broker is Broker & CanLeave {
  return "leaveGroup" in broker && typeof broker.leaveGroup === "function";
}
