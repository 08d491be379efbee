import type { ConfigInputs, LoadedConfig, SourceSeed } from "../config/index.ts";

/** Everything that the program takes from its surroundings. */
export interface CliInputs extends ConfigInputs {
  /** Arguments behind the program's name. */
  readonly argv: readonly string[];
  readonly version: string;
  /** Writes to standard output, as it is. */
  out(text: string): void;
  /** Writes to standard error, as it is. */
  err(text: string): void;
  /** A token from standard input: all of it, at most 64 KiB; on a terminal one line, asked for and not shown. */
  readToken(): Promise<string>;
  /** Resolves after this long. */
  pause(delayMs: number): Promise<void>;
  /** What keeps the configured sources from running with this build, one line each; empty when nothing does. */
  sourceFaults(sources: readonly SourceSeed[]): Promise<readonly string[]>;
  /** Runs the service until it has stopped; returns the exit code. */
  serve(loaded: LoadedConfig): Promise<number>;
}
