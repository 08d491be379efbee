import { type Refusal, refusalOf } from "../core/retention.ts";
import { SourceFault, type TopicRetention } from "../ports/record-source.ts";
import type { SourceParts } from "./source-service.ts";

/**
 * Whether the source's topic keeps its records long enough to start it (I15). A retention that the broker does not let us
 * read is noted and does not keep the source from running. @throws SourceFault: try again later
 */
export async function checkRetention({ source, inForce, errors }: SourceParts): Promise<Refusal | undefined> {
  let retention: TopicRetention;
  try {
    retention = await source.retention();
  } catch (error) {
    if (!(error instanceof SourceFault) || (error.code !== "not-authorized" && error.code !== "unknown")) throw error;
    const text = `whether the topic keeps its records for worstLag is unknown: ${error.message}`;
    errors.note({ code: "RETENTION_UNKNOWN", text });
    return undefined;
  }
  const { definition } = inForce;
  if (retention.retentionBytes !== undefined && definition.allowShortRetention !== true) {
    const text = `topic ${definition.topic} deletes by size as well (retention.bytes ${retention.retentionBytes}): how long it keeps records depends on its rate`;
    errors.note({ code: "RETENTION_BY_SIZE", text });
  }
  const refusal = refusalOf(definition, retention);
  if (refusal !== undefined) errors.note({ ...refusal, level: "error" });
  return refusal;
}
