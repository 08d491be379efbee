/** Least level that is written. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/**
 * Where the service reports what happened, as structured lines. Fields are identifiers, numbers, codes and short texts:
 * never a record's key or value, a token or a password.
 */
export interface Logger {
  /** What only a developer asks for. */
  debug(fields: object, text: string): void;
  /** A change of state that an operator may want to see later. */
  info(fields: object, text: string): void;
  /** Something degraded that heals or waits by itself. */
  warn(fields: object, text: string): void;
  /** Something that needs a person. */
  error(fields: object, text: string): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: object): Logger;
}
