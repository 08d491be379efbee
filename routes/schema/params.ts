import { Type } from "@sinclair/typebox";
import { Closed } from "./closed.ts";
import { NAME_PATTERN, PARTITION_PATTERN } from "./values.ts";

const sourceName = Type.String({ pattern: NAME_PATTERN, description: "Name of the source.", examples: ["articles"] });

/** `{source}` */
export const SourceParams = Closed({ source: sourceName });

/** `{source}` and `{partition}`: text, since nothing in a path is coerced. */
export const PartitionParams = Closed({
  source: sourceName,
  partition: Type.String({
    pattern: PARTITION_PATTERN,
    description: "Number of the partition, without leading zeros.",
    examples: ["0"],
  }),
});
