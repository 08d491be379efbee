import type { FetchFault } from "../../../src/ports/record-source.ts";

/** Why bytes of a fetch are not records. */
export type BatchFaultCode = Exclude<FetchFault["code"], "out-of-range">;

/**
 * Thrown inside the batch decoder and turned into a fault value at its edge: one throw site per check keeps the walk
 * readable, and nothing of it leaves `decodeFetch`.
 */
export class BatchFault extends Error {
  readonly code: BatchFaultCode;

  constructor(code: BatchFaultCode, text: string, options?: ErrorOptions) {
    super(text, options);
    this.name = "BatchFault";
    this.code = code;
  }
}
