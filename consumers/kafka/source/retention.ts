import type { Broker } from "kafkajs";
import { SourceFault, type TopicRetention } from "../../../src/ports/record-source.ts";

/** Resource type of a topic in DescribeConfigs. */
const TOPIC_RESOURCE = 2;

interface DescribeConfigsReply {
  readonly resources: ReadonlyArray<{
    readonly configEntries: ReadonlyArray<{ readonly configName: string; readonly configValue: string | null }>;
  }>;
}

interface CanDescribe {
  describeConfigs(request: {
    resources: ReadonlyArray<{ type: number; name: string; configNames: readonly string[] }>;
  }): Promise<DescribeConfigsReply>;
}

/** Reads a topic's retention from its configuration. @throws whatever the broker answers, SourceFault when it is silent. */
export async function readRetention(broker: Broker, topic: string): Promise<TopicRetention> {
  if (!canDescribe(broker)) throw new SourceFault("unknown", "kafkajs cannot describe a topic");
  const configNames = ["retention.ms", "retention.bytes", "cleanup.policy"];
  const reply = await broker.describeConfigs({ resources: [{ type: TOPIC_RESOURCE, name: topic, configNames }] });
  const entries = reply.resources.flatMap((resource) => resource.configEntries);
  const values = new Map(entries.map((entry) => [entry.configName, entry.configValue ?? ""]));
  const policy = values.get("cleanup.policy") ?? "delete";
  const deletes = policy.split(",").includes("delete");
  return {
    retentionMs: deletes ? limitOf(values.get("retention.ms")) : undefined,
    retentionBytes: deletes ? limitOf(values.get("retention.bytes")) : undefined,
    compacted: policy.split(",").includes("compact"),
  };
}

/** −1 and an absent value are no limit. */
function limitOf(text: string | undefined): number | undefined {
  const value = text === undefined || text === "" ? -1 : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

function canDescribe(broker: Broker): broker is Broker & CanDescribe {
  return "describeConfigs" in broker && typeof broker.describeConfigs === "function";
}
