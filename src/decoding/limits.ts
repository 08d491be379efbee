/** Bounds of every decoder. They decide verdicts, so that all instances must have the same: change them with a release. */
export interface DecodingLimits {
  /** Messages and groups within one another; the record's own message is at 0. protoc's limit is the same. */
  readonly maxDepth: number;
  /** JSON arrays and objects within one another. */
  readonly maxJsonDepth: number;
  /** Bytes of a body that is written as JSON. */
  readonly maxBodyBytes: number;
  /** Paths of unknown fields that are told apart. */
  readonly maxUnknownPaths: number;
}

export const DEFAULT_LIMITS: DecodingLimits = {
  maxDepth: 100,
  maxJsonDepth: 100,
  maxBodyBytes: 64 * 1024 * 1024,
  maxUnknownPaths: 256,
};
