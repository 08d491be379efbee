import type { RecordFault } from "../src/core/fault.ts";
import type { DecodedRecord, KindInput } from "../src/ports/decoder.ts";
import type { RecordContext, VersionedKind, VersionedWrite } from "../src/ports/kind.ts";
import { contractFault, spanFault, wholeWrite } from "./contract.ts";

const INPUTS = [
  { name: "id", type: "text", required: false },
  { name: "target", type: "integer", required: false },
  { name: "tolerance", type: "number", required: false },
  { name: "starts_at", type: "time", required: false },
  { name: "ends_at", type: "time", required: false },
] as const satisfies readonly KindInput[];

/**
 * `dials`: reach targets that an upstream system sets. The record key is the dial's id; a null value deletes it. A target of
 * 0 asks for nobody and is not the same as none.
 */
export const dials: VersionedKind = {
  name: "dials",
  counting: false,
  space: "dial",
  inputs: INPUTS,
  keepsBody: true,
  defaultMapping: { id: [1], target: [2], tolerance: [9], starts_at: [7], ends_at: [8] },
  apply(record: RecordContext, value: DecodedRecord | null): VersionedWrite | RecordFault {
    return wholeWrite(record, value, value?.inputs[0], checkDial);
  },
};

function checkDial({ inputs }: DecodedRecord): RecordFault | undefined {
  const [, target, tolerance, startsAt, endsAt] = inputs;
  if (typeof target === "bigint" && target < 0n) return contractFault("CONTRACT_TARGET", "the target is negative");
  // Written so that NaN is refused, too.
  if (typeof tolerance === "number" && !(tolerance >= 0 && tolerance <= 1)) {
    return contractFault("CONTRACT_TOLERANCE", "the tolerance is not a share from 0 to 1");
  }
  return spanFault(startsAt, endsAt);
}
