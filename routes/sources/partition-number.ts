import { StreamsError } from "../../src/errors.ts";

/** Partition numbers are 32-bit signed integers in Kafka's protocol. */
const PARTITION_MAX = 2 ** 31 - 1;

/** Reads the path of a partition, whose pattern was checked. @throws StreamsError PARTITION_UNKNOWN for a number that no topic has */
export function partitionOf({ source, partition }: { readonly source: string; readonly partition: string }): {
  readonly source: string;
  readonly partition: number;
} {
  const number = Number(partition);
  if (number > PARTITION_MAX) throw new StreamsError("PARTITION_UNKNOWN", `no topic has a partition ${partition}`);
  return { source, partition: number };
}
