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

/** What is wrong, and where: the field by its numbers, the byte of the value. */
export function faultText({ text, path, byteOffset }: Omit<RecordFault, "code">): string {
  const places = [
    ...(path === undefined ? [] : [`field ${path}`]),
    ...(byteOffset === undefined ? [] : [`byte ${byteOffset}`]),
  ];
  return places.length === 0 ? text : `${text} (${places.join(", ")})`;
}

/** Tells a fault from a decoded value. */
export function isFault(value: object): value is RecordFault {
  return "code" in value && "text" in value;
}
