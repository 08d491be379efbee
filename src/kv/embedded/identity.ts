/** Who a directory belongs to. Stored in each owner under a key of its own, as JSON. */

/** Names of the three owners, in the order of the configured directories. */
export const OWNERS = ["a", "b", "c"] as const;
export type OwnerName = (typeof OWNERS)[number];

/** Version of what an owner stores and how. A newer one is refused. */
export const FORMAT_VERSION = 1;

export interface Identity {
  readonly format: number;
  /** Made at the first start; the same in all three directories. */
  readonly deployment: string;
  readonly owner: OwnerName;
  /** `forming` until all three directories are known to have an identity of this deployment. */
  readonly phase: "forming" | "formed";
  /** The incarnation of every owner, by name, as far as this owner knows; its own decides. */
  readonly incarnations: Readonly<Record<OwnerName, string>>;
}

/** Encodes an identity. */
export function encodeIdentity(identity: Identity): Buffer {
  return Buffer.from(JSON.stringify(identity));
}

/**
 * Decodes an identity. Of a newer format only `format` is relied on; the other members are then taken as they are.
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
  if (value["format"] > FORMAT_VERSION) return true;
  const incarnations = value["incarnations"];
  return (
    typeof value["deployment"] === "string" &&
    OWNERS.some((owner) => owner === value["owner"]) &&
    (value["phase"] === "forming" || value["phase"] === "formed") &&
    isObject(incarnations) &&
    OWNERS.every((owner) => typeof incarnations[owner] === "string")
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
