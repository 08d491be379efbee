import type { ProtoFiles } from "../ports/decoder.ts";
import { CONTRACT_FILES } from "./builtin.generated.ts";
import type { BuiltinDescriptor } from "./catalog.ts";

/**
 * The descriptors that ship with the build: the production contract in proto/, as text within the code, so that a verdict
 * never depends on a file of the instance (I17). Each subject has exactly the file that its message needs.
 */
export const BUILTIN_DESCRIPTORS: readonly BuiltinDescriptor[] = [
  builtin("ysearch.article", "article", "Article"),
  builtin("ysearch.ad_action", "ad_action", "AdAction"),
  builtin("ysearch.beacon", "beacon", "Beacon"),
  builtin("ysearch.campaign", "campaign", "Campaign"),
  builtin("ysearch.dial", "dial", "Dial"),
  builtin("ysearch.bid", "bid", "Bid"),
];

/** Their subjects. */
export const BUILTIN_SUBJECTS: ReadonlySet<string> = new Set(BUILTIN_DESCRIPTORS.map(({ subject }) => subject));

function builtin(subject: string, file: string, message: string): BuiltinDescriptor {
  const path = `ysearch/streams/v1/${file}.proto`;
  const files: ProtoFiles = { [path]: CONTRACT_FILES[path] ?? "" };
  return { subject, files, message: `ysearch.streams.v1.${message}` };
}
