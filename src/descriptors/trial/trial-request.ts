import type { Mapping } from "../../core/source.ts";
import { StreamsError } from "../../errors.ts";
import type { ProtoFiles } from "../../ports/decoder.ts";

/** Records of each partition that a trial decodes unless it is told a number, and at most. */
export const TRIAL_LAST = 1_000;
export const TRIAL_LAST_MAX = 10_000;
/** UTF-16 units of an unregistered candidate: it is kept with the job. What is larger is registered first. */
export const TRIAL_FILES_MAX = 262_144;

/** What is tried: a version that is registered, or files that are not. As JSON, since it is kept with the job. */
export interface TrialRequest {
  readonly candidate:
    | { readonly subject: string; readonly version: number }
    | { readonly files: ProtoFiles }
    /** A FileDescriptorSet in base64. */
    | { readonly set: string };
  /** Message that records are; undefined: that of the candidate. */
  readonly message?: string;
  /** Undefined: the one in force. */
  readonly mapping?: Mapping;
  /** Records of each partition, the last ones. */
  readonly last?: number;
  /** Whether the present dead letters are decoded, too. Undefined: yes. */
  readonly deadLetters?: boolean;
}

/** Refuses what is too large to be kept with a job. @throws StreamsError DESCRIPTOR_INVALID */
export function refuseLarge(files: ProtoFiles): void {
  const length = Object.entries(files).reduce((sum, [path, text]) => sum + path.length + text.length, 0);
  if (length <= TRIAL_FILES_MAX) return;
  throw new StreamsError(
    "DESCRIPTOR_INVALID",
    `a candidate of more than ${TRIAL_FILES_MAX} characters is registered before it is tried`,
  );
}
