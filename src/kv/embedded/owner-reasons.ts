import { StreamsError } from "../../errors.ts";
import type { OwnerReason, OwnerReasonCode } from "./protocol.ts";

const VOIDING: ReadonlySet<OwnerReasonCode> = new Set<OwnerReasonCode>(["OWNER_IO", "OWNER_CORRUPT"]);
const FINAL: ReadonlySet<OwnerReasonCode> = new Set<OwnerReasonCode>(["OWNER_CORRUPT"]);

/** Whether what an owner acknowledged is void after this: it may not be on its disk. */
export function isVoiding(reason: OwnerReason | undefined): boolean {
  return reason !== undefined && VOIDING.has(reason.code);
}

/** Whether an owner does not come back by itself after this. */
export function isFinal(reason: OwnerReason | undefined): boolean {
  return reason !== undefined && FINAL.has(reason.code);
}

/** Why an owner is not served whose directory is not the one that was taken for it. */
export const REPLACED: OwnerReason = {
  code: "OWNER_DIRECTORY",
  text: "the directory was replaced while it was looked at",
};

/** The refusal of a repair, with what is in the way. */
export function refused(text: string): StreamsError {
  return new StreamsError("KV_REPAIR_REFUSED", text);
}
