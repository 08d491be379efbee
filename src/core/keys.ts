/** Keys of cells. Pure and injective: two different things never share a key. */

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Longest document id, in UTF-8 bytes. */
export const DOCUMENT_ID_BYTES_MAX = 512;

/** Concatenates parts, each behind its length as a big-endian uint16, so that no choice of parts collides. */
export function joinKey(parts: readonly Uint8Array[]): Uint8Array {
  const total = parts.reduce((sum, part) => sum + 2 + part.length, 0);
  const key = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    key[at] = part.length >> 8;
    key[at + 1] = part.length & 0xff;
    key.set(part, at + 2);
    at += 2 + part.length;
  }
  return key;
}

/** Key of a document or dial: target namespace and id. */
export function documentKey(namespace: string, id: string): Uint8Array {
  return joinKey([encoder.encode(namespace), encoder.encode(id)]);
}

/** Key of the copy of a commit: source, topic epoch, partition. */
export function copyKey(source: string, topicEpoch: number, partition: number): Uint8Array {
  return joinKey([encoder.encode(source), encoder.encode(`${topicEpoch}`), encoder.encode(`${partition}`)]);
}

/** Reads a record key as a document id. Returns undefined unless it is UTF-8 of 1 to 512 bytes. */
export function documentId(key: Uint8Array | null): string | undefined {
  if (key === null || key.length === 0 || key.length > DOCUMENT_ID_BYTES_MAX) return undefined;
  try {
    return strict.decode(key);
  } catch {
    return undefined;
  }
}
