/** Who a directory belongs to. Stored in each owner under a key of its own, as JSON. */

/** Names of the three owners, in the order of the configured directories. */
export const OWNERS = ["a", "b", "c"] as const;
export type OwnerName = (typeof OWNERS)[number];

/** Version of what an owner stores and how. Any other is refused: 1 had no checksums and was never released. */
export const FORMAT_VERSION = 2;

export interface Identity {
  readonly format: number;
  /** Made at the first start; the same in all three directories. */
  readonly deployment: string;
  readonly owner: OwnerName;
  /**
   * `forming` until all three directories are known to have an identity of this deployment; `merging` while a new
   * incarnation has not merged both others yet, and counts for nothing.
   */
  readonly phase: "forming" | "formed" | "merging";
  readonly membership: Membership;
}

/** Whose acks count. Of several, the one of the larger generation is in force. */
export interface Membership {
  /** Grows with each change. */
  readonly generation: number;
  readonly incarnations: Readonly<Record<OwnerName, string>>;
}

/** The membership after `owner`'s incarnation was replaced by `incarnation`: what the old one acknowledged is void. */
export function replaceIncarnation(membership: Membership, owner: OwnerName, incarnation: string): Membership {
  return {
    generation: membership.generation + 1,
    incarnations: { ...membership.incarnations, [owner]: incarnation },
  };
}

/** Encodes an identity. */
export function encodeIdentity(identity: Identity): Buffer {
  return Buffer.from(JSON.stringify(identity));
}

/**
 * Decodes an identity. Of another format only `format` is relied on; the other members are then taken as they are.
 * Returns undefined when the bytes are no identity at all.
 */
export function decodeIdentity(bytes: Uint8Array): Identity | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
  return isIdentity(parsed) ? parsed : undefined;
}

function isIdentity(value: unknown): value is Identity {
  if (!isObject(value) || typeof value["format"] !== "number") return false;
  if (value["format"] !== FORMAT_VERSION) return true;
  const { phase, membership } = value;
  if (!isObject(membership) || !Number.isSafeInteger(membership["generation"])) return false;
  const incarnations = membership["incarnations"];
  return (
    typeof value["deployment"] === "string" &&
    OWNERS.some((owner) => owner === value["owner"]) &&
    (phase === "forming" || phase === "formed" || phase === "merging") &&
    isObject(incarnations) &&
    OWNERS.every((owner) => typeof incarnations[owner] === "string")
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
