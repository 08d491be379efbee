import { documentId } from "../src/core/keys.ts";
import { DOCUMENT_BYTES_MAX } from "../src/core/source.ts";
import type { RecordFault } from "../src/core/fault.ts";
import type { DecodedRecord } from "../src/ports/decoder.ts";
import type { RecordContext, VersionedKind, VersionedWrite } from "../src/ports/kind.ts";

/** Index of the input `id`. */
const ID = 0;

/**
 * `documents`: articles, or any namespace's documents. The record key is the document's id; a null value deletes it;
 * anything else is the new body, whole.
 */
export const documents: VersionedKind = {
  name: "documents",
  counting: false,
  space: "document",
  inputs: [{ name: "id", type: "text", required: false }],
  keepsBody: true,
  defaultMapping: { id: [1] },
  apply(record: RecordContext, value: DecodedRecord | null): VersionedWrite | RecordFault {
    const id = documentId(record.key);
    if (id === undefined) {
      return { code: "CONTRACT_KEY", text: "the record key must be UTF-8 of 1 to 512 bytes: it is the document's id" };
    }
    if (value === null) return { write: "delete", id };
    const named = value.inputs[ID];
    if (named !== undefined && named !== id) {
      return { code: "CONTRACT_KEY_MISMATCH", text: "the record is keyed otherwise than the entity that it names" };
    }
    if (value.body === undefined) return { code: "CONTRACT_BODY", text: "the record has no body" };
    if (value.body.bytes.length > DOCUMENT_BYTES_MAX) {
      return {
        code: "CONTRACT_BODY_TOO_LARGE",
        text: `the body has ${value.body.bytes.length} bytes, more than the ${DOCUMENT_BYTES_MAX} that every engine can hold`,
      };
    }
    return { write: "put", id, body: value.body };
  },
};
