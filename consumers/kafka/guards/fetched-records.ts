import type { AbortedTransaction } from "../records/aborted.ts";

/** What a fetch response says about one partition, the records still as bytes. */
export interface FetchedPartition {
  readonly partition: number;
  readonly position: number;
  /** The broker's error for this partition alone; 0 is none. */
  readonly errorCode: number;
  readonly bytes: Buffer;
  readonly highWatermark: number;
  /** −1 where the broker did not say. */
  readonly lastStableOffset: number;
  /** −1 where the broker did not say. */
  readonly logStart: number;
  readonly aborted: readonly AbortedTransaction[];
}

/** A partition of a fetch response, before anybody knows at which position it was asked for. */
export type PartitionResponse = Omit<FetchedPartition, "position">;

/**
 * What stands where kafkajs expects a partition's decoded messages: an empty array that carries the bytes. kafkajs'
 * own `Batch` accepts it as a batch without messages and keeps it as `rawMessages`, where the guards find it again.
 */
export class FetchedRecords extends Array<never> {
  readonly response: PartitionResponse;
  /** The partition's fields as kafkajs names them, to build one of its own batches from. */
  readonly fields: object;

  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  constructor(response: PartitionResponse, fields: object) {
    super();
    this.response = response;
    this.fields = fields;
  }
}
