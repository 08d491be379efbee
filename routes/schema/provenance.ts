import { type Static, Type } from "@sinclair/typebox";
import type { Provenance as ProvenanceView } from "../../src/ports/documents.ts";
import { Closed } from "./closed.ts";
import { Count, KnownTime, OffsetText, PartitionNumber, knownTime, offsetText } from "./values.ts";

export const Provenance = Closed(
  {
    source: Type.String(),
    partition: PartitionNumber,
    offset: OffsetText,
    topicEpoch: Type.Integer({ minimum: 0, maximum: 1023 }),
    revision: Count("Revision of the definition that judged the record."),
    descriptorVersion: Count("Version of the descriptor that decoded it; 0 without a descriptor."),
    timestamp: KnownTime,
  },
  { description: "The record that a stored value came from." },
);

/** Writes provenance as the API spells it. */
export function provenanceBody(provenance: ProvenanceView): Static<typeof Provenance> {
  const { source, partition, offset, topicEpoch, revision, descriptorVersion, timestampMs } = provenance;
  return {
    source,
    partition,
    offset: offsetText(offset) ?? "0",
    topicEpoch,
    revision,
    descriptorVersion,
    timestamp: knownTime(timestampMs),
  };
}
