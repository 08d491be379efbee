/** Bounds of every decoder. They decide verdicts, so that all instances must have the same: change them with a release. */
export interface DecodingLimits {
  /** Messages and groups within one another; the record's own message is at 0. protoc's limit is the same. */
  readonly maxDepth: number;
  /** JSON arrays and objects within one another. */
  readonly maxJsonDepth: number;
  /** Bytes of a body that is written as JSON. */
  readonly maxBodyBytes: number;
  /**
   * What a record may take in memory while it becomes JSON, in cells of about eight bytes: two bytes of a record can be an
   * empty message that takes a hundred.
   */
  readonly maxBodyCells: number;
  /** Paths of unknown fields that are told apart. */
  readonly maxUnknownPaths: number;
}

/** Bounds of what is compiled. Whoever uploads more gets an answer, not a standstill. */
export const SCHEMA_LIMITS = {
  /** Files of a descriptor, with what they import. */
  maxFiles: 1_000,
  /** UTF-16 units of all files. */
  maxSourceLength: 4 * 1024 * 1024,
  /** Bytes of a FileDescriptorSet. */
  maxSetBytes: 4 * 1024 * 1024,
  /** Words, numbers, strings and signs of all files. */
  maxTokens: 1_000_000,
  /** Messages, fields, enums, values and so on, of all files. */
  maxDeclarations: 100_000,
  /** UTF-16 units of a name without its scope. */
  maxNameLength: 512,
  /** UTF-16 units of a name with its scope. */
  maxFullNameLength: 2_048,
  /** Differences to earlier versions that are told. */
  maxReasons: 100,
} as const;

export const DEFAULT_LIMITS: DecodingLimits = {
  maxDepth: 100,
  maxJsonDepth: 100,
  maxBodyBytes: 64 * 1024 * 1024,
  maxBodyCells: 8 * 1024 * 1024,
  maxUnknownPaths: 256,
};
