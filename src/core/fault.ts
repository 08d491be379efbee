/**
 * A data fault: this record can never be decoded, or breaks its kind's contract. It goes to the dead letters (I11).
 * Faults are values, not exceptions: they are an expected outcome of decoding.
 */
export interface RecordFault {
  /** Stable code, `DECODE_…` or `CONTRACT_…`. */
  readonly code: string;
  /** What is wrong, without any of the record's content. */
  readonly text: string;
  /** Field path by number, `3.1`, where known. */
  readonly path?: string;
  /** Where in the value's bytes decoding failed. */
  readonly byteOffset?: number;
}

/** Tells a fault from a decoded value. */
export function isFault(value: object): value is RecordFault {
  return "code" in value && "text" in value;
}
