import type { SourceSeed } from "../core/source.ts";
import type { LogLevel } from "../ports/logger.ts";
import type { Limits } from "./limits.ts";

export type { DescriptorSeed, SourceSeed } from "../core/source.ts";

/** Configuration as the service uses it: deeply frozen, durations in milliseconds (`…Ms`), sizes in bytes, paths absolute. */
export interface StreamsConfig {
  readonly http: HttpConfig;
  readonly broker: BrokerConfig;
  readonly kv: EmbeddedKvConfig;
  readonly limits: Limits;
  readonly log: { readonly level: LogLevel; readonly pretty: boolean };
  readonly sources: readonly SourceSeed[];
}

export interface HttpConfig {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly tokensFile?: string;
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

export interface BrokerConfig {
  /** `host:port`, no IPv6 literals. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Absent when TLS is off. */
  readonly ssl?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  readonly sasl?: SaslConfig;
}

export interface SaslConfig {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: string;
  /** The password itself, already read from its variable or file. */
  readonly password: string;
}

export interface EmbeddedKvConfig {
  readonly engine: "embedded";
  /** Absolute, three, none within another. */
  readonly directories: readonly [string, string, string];
  readonly writeAcks: 2 | 3;
}

/** Where a value came from. */
export type Origin = "default" | "file" | `env ${string}` | `file ${string}`;

/** What {@link loadConfig} found. */
export interface LoadedConfig {
  readonly config: StreamsConfig;
  /** By path as faults spell it: `limits.drainTimeout`, `sources[0].topic`. */
  readonly provenance: ReadonlyMap<string, Origin>;
  /** Absolute path of the file that was read; absent when there is none. */
  readonly file?: string;
  /** What is allowed but probably not meant. */
  readonly warnings: readonly string[];
}
