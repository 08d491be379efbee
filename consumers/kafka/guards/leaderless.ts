import { isObject, loadFunctions, requireFile, requireText } from "./pin.ts";

interface PartitionMetadata {
  readonly partitionErrorCode: number;
}

interface TopicMetadata {
  readonly topicErrorCode: number;
  readonly partitionMetadata: readonly PartitionMetadata[];
}

interface ResponseModule {
  parse: (response: object) => Promise<object>;
}

const LEADER_NOT_AVAILABLE = 5;
/** One replica of several is away; the leader is there. Apache Kafka tells clients to ignore it. */
const REPLICA_NOT_AVAILABLE = 9;

/**
 * G7. Published behaviour: one partition without a leader makes every metadata refresh of the client throw, and in the
 * end kills the consumer of all its siblings. Guarded: such a partition stays in the metadata with leader −1, which no
 * fetch loop serves; only a topic in which *no* partition has a leader is refused as before (a topic just created:
 * kafkajs waits for it by that error).
 */
export function guardLeaderless(): void {
  requireFile("src/protocol/requests/metadata/v0/response.js", "9a1cbcfd0ac174b2");
  // Every version re-exports the function of version 0, bound when it is loaded: load all before replacing any.
  const versions = [0, 1, 2, 3, 4, 5, 6].map((version) => {
    const path = `src/protocol/requests/metadata/v${version}/response.js`;
    const response = loadFunctions<ResponseModule>(path, ["parse"]);
    requireText(`${path} parse`, response.parse, "d30641109479478c");
    return response;
  });
  for (const response of versions) {
    const original = response.parse;
    response.parse = async (data) => {
      await original(withoutTolerated(data));
      return data;
    };
  }
}

/** The response with only those partition errors left that concern a whole topic. */
function withoutTolerated(data: object): object {
  const topics: unknown = Reflect.get(data, "topicMetadata");
  if (!Array.isArray(topics)) return data;
  return { ...data, topicMetadata: topics.filter(isTopic).map(tolerate) };
}

function tolerate(topic: TopicMetadata): TopicMetadata {
  const { partitionMetadata } = topic;
  const tolerable = ({ partitionErrorCode }: PartitionMetadata): boolean =>
    partitionErrorCode === LEADER_NOT_AVAILABLE || partitionErrorCode === REPLICA_NOT_AVAILABLE;
  const leaderless = partitionMetadata.filter((entry) => entry.partitionErrorCode === LEADER_NOT_AVAILABLE);
  if (leaderless.length === partitionMetadata.length) return topic;
  return { ...topic, partitionMetadata: partitionMetadata.filter((entry) => !tolerable(entry)) };
}

function isTopic(value: unknown): value is TopicMetadata {
  return isObject(value) && Array.isArray(Reflect.get(value, "partitionMetadata"));
}
