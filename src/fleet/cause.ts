import { InvariantViolation } from "../core/invariant.ts";
import type { Cause } from "../core/partition/state.ts";
import type { Stop } from "../core/partition/stop.ts";
import { StreamsError } from "../errors.ts";
import { KvFault } from "../ports/kv-plane.ts";
import { SourceFault, type SourceFaultCode } from "../ports/record-source.ts";

/** What an error means for whoever met it. Total over every `unknown`. */
export type Consequence =
  /** A store or broker fault, or a build that lacks something: wait and try again, nothing is lost (I11). */
  | { readonly consequence: "hold"; readonly cause: Cause }
  /** A promise of ours is broken, or something nobody foresaw: the partition stops (I16). */
  | { readonly consequence: "stop"; readonly detail: string; readonly stop?: Stop };

/** The partition must stop, for a reason that operators know. */
export class PartitionHalt extends Error {
  readonly stop: Stop;

  constructor(stop: Stop) {
    super(stop.detail);
    this.name = "PartitionHalt";
    this.stop = stop;
  }
}

export function consequenceOf(error: unknown): Consequence {
  if (error instanceof KvFault) return { consequence: "hold", cause: { code: error.code, text: error.message } };
  if (error instanceof SourceFault) {
    return { consequence: "hold", cause: { code: brokerCode(error.code), text: error.message } };
  }
  if (error instanceof PartitionHalt) return { consequence: "stop", detail: error.message, stop: error.stop };
  if (error instanceof InvariantViolation) return { consequence: "stop", detail: error.message };
  if (error instanceof StreamsError) {
    // Only a revision can fail in this way: what was good under another build does not compile under this one.
    return { consequence: "hold", cause: { code: "REVISION_UNUSABLE", text: `${error.code}: ${error.message}` } };
  }
  return { consequence: "stop", detail: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

/** What an error is called where it is noted, whatever follows from it. */
export function causeOf(error: unknown): Cause {
  const consequence = consequenceOf(error);
  return consequence.consequence === "hold" ? consequence.cause : { code: "INTERNAL", text: consequence.detail };
}

/** Stable code of a broker fault: `broker-unreachable` is BROKER_UNREACHABLE, `topic-missing` BROKER_TOPIC_MISSING. */
export function brokerCode(fault: SourceFaultCode): string {
  return `BROKER_${fault
    .replace(/^broker-/, "")
    .toUpperCase()
    .replaceAll("-", "_")}`;
}
