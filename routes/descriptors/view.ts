import type { Static } from "@sinclair/typebox";
import type {
  CompatibilityView,
  DescriptorProposal,
  DescriptorVersionView,
  VersionDifference,
} from "../../src/ports/descriptors.ts";
import { malformed } from "../edge/refusals.ts";
import { defined } from "../schema/closed.ts";
import type { Difference } from "../schema/difference.ts";
import { timeText } from "../schema/values.ts";
import type { CandidateBody, Compatibility, Version } from "./schema.ts";

/** Writes a version as the API spells it. */
export function versionBody(view: DescriptorVersionView): Static<typeof Version> {
  const { subject, version, message, digest, actor, registeredAt, removed } = view;
  return defined({
    subject,
    version,
    message,
    digest,
    actor,
    registeredAt: registeredAt === undefined ? undefined : timeText(registeredAt),
    removed: removed === undefined ? undefined : { ...removed, at: timeText(removed.at) },
  });
}

/** Writes a comparison. */
export function compatibilityBody(view: CompatibilityView): Static<typeof Compatibility> {
  const { compatible, message, digest, sameAs, differences, total } = view;
  return defined({ compatible, message, digest, sameAs, differences: differences.map(differenceBody), total });
}

function differenceBody(difference: VersionDifference): Static<typeof Difference> {
  return defined({ ...difference });
}

/**
 * Reads what is to be registered or compared. Of a body that was the bytes of a set the message is in the query. @throws StreamsError REQUEST_MALFORMED for a message in both, and for text that is no base64
 */
export function readProposal(
  body: Static<typeof CandidateBody>,
  query: { readonly message?: string },
): DescriptorProposal {
  if (query.message !== undefined && body.message !== undefined)
    throw malformed("query", "/message", "the body has one");
  const message = body.message ?? query.message;
  if ("files" in body) return { upload: { files: body.files }, message };
  const set = Buffer.from(body.set, "base64");
  // Node skips what is no base64: what was read must be what was sent.
  const plain = body.set.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  if (set.toString("base64").replace(/=+$/, "") !== plain) throw malformed("body", "/set", "it is no base64");
  return { upload: { set }, message };
}
