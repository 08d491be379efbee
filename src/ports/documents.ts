import type { Offset } from "../core/offset.ts";

/** Where a stored value came from. */
export interface Provenance {
  readonly source: string;
  readonly partition: number;
  readonly offset: Offset;
  readonly topicEpoch: number;
  readonly revision: number;
  readonly descriptorVersion: number;
  readonly timestampMs: number;
}

/** A stored document and the record that it came from. */
export interface DocumentView {
  readonly namespace: string;
  readonly id: string;
  readonly body: { readonly format: "json" | "protobuf" | "raw"; readonly bytes: Uint8Array };
  readonly provenance: Provenance;
  /** When it was read from the plane. */
  readonly asOf: number;
}

/** Reads of single documents. */
export interface DocumentQueries {
  /** @throws StreamsError NAMESPACE_UNKNOWN, DOCUMENT_UNKNOWN, DOCUMENT_DELETED (with provenance), KV_UNAVAILABLE */
  read(namespace: string, id: string): Promise<DocumentView>;
}

/** Reads of single dials. */
export interface DialQueries {
  /** @throws StreamsError NAMESPACE_UNKNOWN, NAMESPACE_NEEDED, DOCUMENT_UNKNOWN, DOCUMENT_DELETED (with provenance), KV_UNAVAILABLE */
  readDial(namespace: string | undefined, id: string): Promise<DocumentView>;
}
