import type { Offset } from "../offset.ts";
import type { Fingerprint } from "./copy.ts";
import type { StartFacts, Verification } from "./start.ts";
import type { Stop } from "./stop.ts";

/** Why a partition waits: a stable code of the store or the broker edge, and a text without payload. */
export interface Cause {
  readonly code: string;
  readonly text: string;
}

/** Lifecycle of one assigned partition. What each state needs travels with it. */
export type Phase =
  /** Facts for the start decision are being gathered; nothing is fetched. `cause`: the last attempt failed. */
  | {
      readonly phase: "starting";
      readonly attempts: number;
      /** How often in a row the log's end contradicted what was applied. */
      readonly disputes: number;
      readonly cause?: Cause;
    }
  /** Reading begins at a record that must be the one that was acknowledged last. */
  | { readonly phase: "verifying"; readonly verify: Verification; readonly disputes: number }
  | { readonly phase: "running"; readonly disputes: number }
  /** A store or broker fault: one batch (`seq`) or one position is tried again until it works. */
  | { readonly phase: "holding"; readonly on: Hold; readonly cause: Cause; readonly attempts: number }
  | { readonly phase: "stopped"; readonly stop: Stop }
  /** SIGTERM: no more fetching; what is in flight may still be acknowledged and committed. */
  | { readonly phase: "draining" }
  /** Another assignment epoch: every later result is void. */
  | { readonly phase: "gone" };

/** What a hold waits for: one batch that has to be written, or the bounds of the log. */
export type Hold =
  | { readonly hold: "write"; readonly seq: number }
  /** `verify`: the log was not recognised yet, and still has to be when the dispute is settled. */
  | { readonly hold: "bounds"; readonly verify: Verification | undefined };

/** Epochs of the leaders that appended the first and the last record batch of what was fetched. Along one log they never fall. */
export interface LeaderEpochs {
  readonly first: number;
  readonly last: number;
}

/** A batch between delivery and acknowledgement. */
export interface InFlight {
  readonly seq: number;
  readonly from: Offset;
  readonly next: Offset;
  readonly records: number;
  readonly bytes: number;
  readonly deliveredAtMs: number;
  readonly acknowledged: boolean;
  /** Of its last record batch, where the broker keeps them. */
  readonly leaderEpoch?: number | undefined;
  /** Of the last record; known once the batch has been processed. */
  readonly fingerprint: Fingerprint | undefined;
}

/** Everything that the machine knows of one partition. Replaced whole at each event, never changed. */
export interface PartitionState {
  readonly phase: Phase;
  /** Last contiguously acknowledged + 1, over what was delivered. Undefined before the start is decided. */
  readonly watermark: Offset | undefined;
  /** Where this life of the partition began: nothing is committed before something after it was applied. */
  readonly startedAt: Offset | undefined;
  /** Next to read. */
  readonly position: Offset | undefined;
  /** In delivery order; the watermark passes the acknowledged prefix. */
  readonly inFlight: readonly InFlight[];
  readonly fetching: boolean;
  /** Of the last record below the watermark. */
  readonly fingerprint: Fingerprint | undefined;
  /** Of the leaders: the highest under which the log was recognised, and that of what is acknowledged. */
  readonly leaderEpoch: { readonly known: number; readonly acknowledged: number } | undefined;
  readonly logStart: Offset | undefined;
  readonly end: Offset | undefined;
  /** The group's committed offset as last confirmed or read back. */
  readonly committed: Offset | undefined;
  /** How far the copy is known to be durable. */
  readonly copied: Offset | undefined;
  /** A committed offset that the operator's start record knows of and goes back behind: nobody moved it, and it may be lowered. */
  readonly tolerated: Offset | undefined;
  /** Whether an operator paused the partition or its source: nothing is fetched, whatever the phase. */
  readonly paused: boolean;
  readonly nextSeq: number;
  /** How often an out-of-range answer that the bounds contradict, or an end below us, is asked about before it stops. */
  readonly disputesMax: number;
}

/** With the default waits about half a minute: longer than a leader election leaves a wrong high watermark. */
export const DISPUTES_DEFAULT = 8;

/** A partition that was just assigned. */
export const INITIAL_STATE: PartitionState = {
  phase: { phase: "starting", attempts: 0, disputes: 0 },
  watermark: undefined,
  startedAt: undefined,
  position: undefined,
  inFlight: [],
  fetching: false,
  fingerprint: undefined,
  leaderEpoch: undefined,
  logStart: undefined,
  end: undefined,
  committed: undefined,
  copied: undefined,
  tolerated: undefined,
  paused: false,
  nextSeq: 1,
  disputesMax: DISPUTES_DEFAULT,
};

/** What happens to a partition. */
export type PartitionEvent =
  | { readonly event: "facts"; readonly facts: StartFacts; readonly stop: Stop | undefined }
  | { readonly event: "facts-failed"; readonly cause: Cause }
  | { readonly event: "batch"; readonly batch: DeliveredBatch }
  | { readonly event: "acknowledged"; readonly seq: number; readonly fingerprint: Fingerprint | undefined }
  | { readonly event: "write-failed"; readonly seq: number; readonly cause: Cause }
  /** The wait after `attempt` of batch `seq` is over. */
  | { readonly event: "retry"; readonly seq: number; readonly attempt: number }
  /** Policy `stop`, or the breaker: the batch ends before the record at `offset`. */
  | {
      readonly event: "poison";
      readonly seq: number;
      readonly offset: Offset;
      readonly code: "POISON" | "POISON_BREAKER";
      readonly detail: string;
    }
  | {
      readonly event: "fetch-fault";
      readonly position: Offset;
      readonly fault: FetchFaultCode;
      readonly detail: string;
    }
  | ({ readonly event: "bounds" } & BoundsReading)
  | { readonly event: "bounds-failed"; readonly cause: Cause }
  | { readonly event: "copied"; readonly watermark: Offset }
  | { readonly event: "read-back"; readonly committed: Offset | undefined; readonly copy: Offset | undefined }
  | { readonly event: "committed"; readonly offset: Offset }
  | { readonly event: "halt"; readonly stop: Stop }
  /** An operator paused the partition or its source, or the pause ended. */
  | { readonly event: "pause"; readonly paused: boolean }
  | { readonly event: "drain" }
  | { readonly event: "revoked" };

/** Log bounds, with what the partition knew when they were asked for: an answer says nothing of what came later. */
export interface BoundsReading {
  readonly logStart: Offset;
  readonly end: Offset;
  /** Whether the machine asked (`read-bounds`); otherwise it is the regular reading. */
  readonly asked: boolean;
  readonly before: { readonly reached: Offset; readonly logStart: Offset };
}

/** Why a fetch of this partition gave no records. */
export type FetchFaultCode = "out-of-range" | "undecodable" | "batch-too-large";

/** A batch as the machine sees it. */
export interface DeliveredBatch {
  readonly fetchedAt: Offset;
  readonly next: Offset;
  readonly records: number;
  readonly bytes: number;
  readonly logStart: Offset | undefined;
  readonly end: Offset;
  readonly leaderEpochs?: LeaderEpochs | undefined;
  readonly deliveredAtMs: number;
  /** Whether the process is short of memory for batches: fetching pauses after this one. */
  readonly crowded: boolean;
  /** While verifying: what became of the record to recognise. */
  readonly recognised: "equal" | "different" | "absent" | undefined;
}

/** What the runner must do. */
export type PartitionEffect =
  | { readonly effect: "gather-facts"; readonly attempt: number }
  | { readonly effect: "record-first-start" }
  | { readonly effect: "begin"; readonly position: Offset }
  | { readonly effect: "pause" }
  | { readonly effect: "resume" }
  /** Decode, fold and write records at or above `from`; `again`: what was prepared before is written once more. */
  | { readonly effect: "process"; readonly seq: number; readonly from: Offset; readonly again: boolean }
  | { readonly effect: "drop"; readonly seqs: readonly number[] }
  | { readonly effect: "retry-later"; readonly seq: number; readonly attempt: number }
  | { readonly effect: "read-bounds"; readonly attempt: number }
  | { readonly effect: "persist-stop"; readonly stop: Stop };

/** The outcome of one event: the next state, and the effects in the order in which to carry them out. */
export interface Step {
  readonly state: PartitionState;
  readonly effects: readonly PartitionEffect[];
}
