import { parseTokens } from "../access/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import type { ReadFile } from "../config/secrets.ts";

const TOKENS_BYTES_MAX = 1024 * 1024;

/**
 * Checks what the configuration leads to and summarises it.
 * @throws StreamsError CONFIG_INVALID for a tokens file that is none
 */
export function check({ config, file, warnings }: LoadedConfig, readFile: ReadFile): string {
  const { http, broker, kv, sources } = config;
  const tokens =
    http.tokensFile === undefined
      ? "no tokens (loopback only)"
      : counted(parseTokens(new TextDecoder().decode(readFile(http.tokensFile, TOKENS_BYTES_MAX))).length, "token");
  const scheme = http.tls === undefined ? "http" : "https";
  const lines = [
    `${file ?? "no file, defaults"}: valid${warnings.length === 0 ? "" : `, ${counted(warnings.length, "warning")}`}`,
    `http: ${scheme}://${http.host.includes(":") ? `[${http.host}]` : http.host}:${http.port}, ${tokens}`,
    `broker: ${broker.brokers.join(", ")}${broker.ssl === undefined ? "" : ", TLS"}${broker.sasl === undefined ? "" : `, ${broker.sasl.mechanism}`}`,
    `kv: ${kv.engine}, ${kv.writeAcks} of 3 acks, ${kv.directories.join(" ")}`,
    `sources: ${sources.length}`,
    ...sources.map((source) => `  ${source.name}: ${source.kind} from ${source.topic} as ${source.group}`),
  ];
  return `${lines.join("\n")}\n`;
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
