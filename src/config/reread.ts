import { statSync } from "node:fs";
import { StreamsError } from "../errors.ts";
import { type ConfigInputs, loadConfig } from "./load.ts";
import { codeOf } from "./secrets.ts";
import type { LoadedConfig, SourceSeed } from "./types.ts";

/**
 * Returns a function that gives the sources of the configuration file as it is now: the file is looked at each time and
 * read again when it is another one than before. While it cannot be read or is not valid, the last valid sources stand, and
 * `warn` is told once per state of the file.
 */
export function rereadSources(
  loaded: LoadedConfig,
  inputs: ConfigInputs,
  warn: (text: string) => void,
): () => readonly SourceSeed[] {
  let { sources } = loaded.config;
  const { file } = loaded;
  if (file === undefined) return () => sources;
  let seen = stateOf(file);
  return () => {
    const now = stateOf(file);
    if (now === seen) return sources;
    seen = now;
    try {
      sources = loadConfig({ ...inputs, env: { ...inputs.env, STREAMS_CONFIG: file } }).config.sources;
    } catch (error) {
      if (!(error instanceof StreamsError)) throw error;
      warn(`drift is told by what the configuration file said before: ${error.message}`);
    }
    return sources;
  };
}

/** Which file it is and when it was written; a configuration map is exchanged whole, with an older time perhaps. */
function stateOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join("/");
  } catch (cause) {
    return codeOf(cause);
  }
}
