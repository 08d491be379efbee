export { DEFAULT_FILE, loadConfig, type ConfigInputs } from "./load.ts";
export { readBounded } from "./read-file.ts";
export { LIMITS, type LimitName, type LimitRow, type Limits } from "./limits.ts";
export { BUILT_IN_SUBJECTS } from "./sources.ts";
export type { ConfigFault } from "./fault.ts";
export type {
  BrokerConfig,
  DescriptorSeed,
  EmbeddedKvConfig,
  HttpConfig,
  LoadedConfig,
  Origin,
  SaslConfig,
  SourceSeed,
  StreamsConfig,
} from "./types.ts";
