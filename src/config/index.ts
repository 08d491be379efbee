export { loadConfig, type ConfigInputs } from "./load.ts";
export { rereadSources } from "./reread.ts";
export { readBounded } from "./read-file.ts";
export { LIMITS } from "./limits.ts";
export { BUILT_IN_SUBJECTS } from "./sources.ts";
export { InvalidConfig } from "./fault.ts";
export type { ConfigFault } from "./fault.ts";
export type { BrokerConfig, HttpConfig, LoadedConfig, Origin, SourceSeed, StreamsConfig } from "./types.ts";
