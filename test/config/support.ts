import { loadConfig } from "../../src/config/index.ts";
import type { ConfigFault, LoadedConfig } from "../../src/config/index.ts";
import { StreamsError } from "../../src/errors.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/** What a configuration is read from: the text of streams.yaml, variables, further files by absolute path. */
export interface Given {
  readonly yaml?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Reads a configuration whose working directory is /srv/app. */
export function load({ yaml, env = {}, files = {} }: Given = {}): LoadedConfig {
  const all: Record<string, string | Uint8Array> = { "/srv/app/server.pem": PEM, ...files };
  if (yaml !== undefined) all["/srv/app/streams.yaml"] = yaml;
  const readFile = (path: string): Uint8Array => {
    const content = all[path];
    if (content === undefined) throw Object.assign(new Error(`no such file ${path}`), { code: "ENOENT" });
    return typeof content === "string" ? new TextEncoder().encode(content) : content;
  };
  return loadConfig({ env, cwd: "/srv/app", readFile });
}

/** Faults of a configuration that must be refused. */
export function faultsOf(given: Given): readonly ConfigFault[] {
  const error = refusalOf(given);
  return error.extra["faults"] as readonly ConfigFault[];
}

/** The error of a configuration that must be refused. */
export function refusalOf(given: Given): StreamsError {
  try {
    load(given);
  } catch (error) {
    if (error instanceof StreamsError && error.code === "CONFIG_INVALID") return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
}
