import type { OrderedBytes } from "../../../src/core/cell.ts";
import type { CellWrite, KvPlane } from "../../../src/ports/kv-plane.ts";

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);
let nextKey = 0;

/** A key that no other test has. */
export function freshKey(): Uint8Array {
  nextKey += 1;
  return text(`key-${nextKey}`);
}

/** A cell of a document. */
export function cell(key: Uint8Array, order: number, bytes: string | Uint8Array): CellWrite {
  return { space: "document", key, order, bytes: typeof bytes === "string" ? text(bytes) : bytes };
}

/** What the plane holds of a document. */
export async function held(plane: KvPlane, key: Uint8Array): Promise<OrderedBytes | undefined> {
  const [restored] = await plane.restore([{ space: "document", key }]);
  return restored;
}
