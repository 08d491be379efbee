import type { RecordFault } from "../src/core/fault.ts";
import type { DecodedRecord } from "../src/ports/decoder.ts";
import type { RecordContext, VersionedKind, VersionedWrite } from "../src/ports/kind.ts";
import { wholeWrite } from "./contract.ts";

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
    return wholeWrite(record, value, value?.inputs[ID], () => undefined);
  },
};
