import type { RecordFault } from "../src/core/fault.ts";
import type { DecodedRecord, KindInput } from "../src/ports/decoder.ts";
import type { RecordContext, VersionedKind, VersionedWrite } from "../src/ports/kind.ts";
import { contractFault, spanFault, wholeWrite } from "./contract.ts";

const INPUTS = [
  { name: "id", type: "text", required: false },
  { name: "budget", type: "integer", required: false },
  { name: "daily_budget", type: "integer", required: false },
  { name: "starts_at", type: "time", required: false },
  { name: "ends_at", type: "time", required: false },
] as const satisfies readonly KindInput[];

/**
 * `campaigns`: campaign records from an upstream ad system, stored in the source's namespace as documents are. The record
 * key is the campaign's id; a null value deletes it. What a record says of money and time must be possible; what its status
 * or its currency mean is for who serves it.
 */
export const campaigns: VersionedKind = {
  name: "campaigns",
  counting: false,
  space: "document",
  inputs: INPUTS,
  keepsBody: true,
  defaultMapping: { id: [1], budget: [5], daily_budget: [6], starts_at: [8], ends_at: [9] },
  apply(record: RecordContext, value: DecodedRecord | null): VersionedWrite | RecordFault {
    return wholeWrite(record, value, value?.inputs[0], checkCampaign);
  },
};

function checkCampaign({ inputs }: DecodedRecord): RecordFault | undefined {
  const [, budget, dailyBudget, startsAt, endsAt] = inputs;
  for (const amount of [budget, dailyBudget]) {
    if (typeof amount === "bigint" && amount < 0n) return contractFault("CONTRACT_BUDGET", "a budget is negative");
  }
  return spanFault(startsAt, endsAt);
}
