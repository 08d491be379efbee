import type { Offset } from "../core/offset.ts";
import type { RecordFault } from "../core/fault.ts";
import type { RecordHeader } from "./record-batch.ts";

/** A record that can never be applied, with where it came from and why. Key, value and headers are the original bytes. */
export interface DeadLetter {
  readonly source: string;
  readonly topic: string;
  readonly topicEpoch: number;
  readonly partition: number;
  readonly offset: Offset;
  readonly timestampMs: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
  readonly fault: RecordFault;
  readonly descriptorVersion: number;
  readonly revision: number;
  readonly attempt: number;
  readonly firstSeenMs: number;
}

/** Where poison goes. */
export interface DeadLetters {
  /**
   * Publishes letters to `topic` and resolves when the broker confirmed all of them with acks=all.
   * @throws SourceFault when it could not: the caller holds and tries again; duplicates are harmless.
   */
  publish(topic: string, letters: readonly DeadLetter[]): Promise<void>;
  close(deadlineMs: number): Promise<void>;
}
