/** What the tidy tests check, as tables. A change of the architecture is a change here. */

/** Files or folders, and what else they may import beside themselves. */
export interface LayerRule {
  readonly places: readonly string[];
  readonly mayImport: readonly string[];
}

const RULES = ["src/core", "src/errors.ts"];
const PORTS = [...RULES, "src/ports"];
const SERVICES = [
  "src/fleet",
  "src/gaps",
  "src/ledgers",
  "src/audit",
  "src/barriers",
  "src/explain",
  "src/operators",
  "src/jobs",
  "src/control",
  "src/definitions",
  "src/descriptors",
  "src/lag",
  "src/letters",
  "src/queries",
  "src/access",
];

/**
 * main → wiring → {routes, consumers, adapters, services} → ports → core. The first row whose place holds a file is its
 * layer. Adapters do not know each other, routes and consumers never meet.
 */
export const LAYERS: readonly LayerRule[] = [
  { places: ["src/core"], mayImport: [] },
  { places: ["src/errors.ts"], mayImport: [] },
  { places: ["src/ports"], mayImport: RULES },
  { places: ["src/config"], mayImport: PORTS },
  { places: SERVICES, mayImport: [...PORTS, ...SERVICES, "src/config"] },
  { places: ["src/decoding"], mayImport: PORTS },
  // An owner's process is a main of its own: nobody hands it a clock.
  { places: ["src/kv/embedded/owner-main.ts"], mayImport: [...PORTS, "src/clock.ts", "src/kv"] },
  { places: ["src/kv"], mayImport: PORTS },
  { places: ["src/telemetry"], mayImport: PORTS },
  { places: ["src/clock.ts"], mayImport: PORTS },
  { places: ["src/logger.ts"], mayImport: PORTS },
  { places: ["consumers/kafka"], mayImport: PORTS },
  { places: ["consumers"], mayImport: PORTS },
  // The strict scan of JSON bytes is one rule for records and for requests; it is pure.
  { places: ["routes"], mayImport: [...PORTS, ...SERVICES, "src/decoding/json-scan.ts"] },
  { places: ["src/cli"], mayImport: [...PORTS, "src/config", "src/access"] },
  { places: ["src/wiring"], mayImport: ["src", "routes", "consumers"] },
  { places: ["src/main.ts"], mayImport: ["src"] },
  { places: ["local", "bench", "test", "proto", "vitest.config.ts", "vitest.soak.config.ts"], mayImport: [""] },
];

/** Whom nobody imports, whatever its own row says. */
export const NEVER_IMPORTED: readonly { readonly place: string; readonly except: readonly string[] }[] = [
  { place: "src/main.ts", except: ["test", "local", "bench"] },
  { place: "test", except: ["test", "bench", "local"] },
  { place: "local", except: ["test", "bench", "local"] },
];

/** Which folders may import a package. An empty list is a tool that only commands and configurations name. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@fastify/swagger": ["routes"],
  "@fastify/type-provider-typebox": ["routes"],
  fastify: ["routes", "test/routes"],
  "@sinclair/typebox": ["routes", "src/config", "src/control", "test"],
  kafkajs: ["consumers/kafka", "local", "bench", "test"],
  "@node-rs/crc32": ["consumers/kafka", "src/kv/embedded", "test/consumers", "bench"],
  fzstd: ["consumers/kafka", "test/consumers"],
  "lz4-napi": ["consumers/kafka", "test/consumers"],
  snappy: ["consumers/kafka", "test/consumers"],
  protobufjs: ["src/decoding", "test/decoding", "local", "bench"],
  lmdb: ["src/kv/embedded", "test/kv/embedded", "bench"],
  pino: ["src/logger.ts"],
  "prom-client": ["src/telemetry"],
  undici: ["src/cli", "local", "test", "bench"],
  yaml: ["src/config", "src/access", "src/cli", "test", "local"],
  ajv: ["test"],
  "fast-check": ["test"],
  vitest: ["test", "vitest.config.ts", "vitest.soak.config.ts"],
  "@bufbuild/buf": ["local"],
  "@redocly/cli": ["test/routes"],
  "@types/node": [],
  "@vitest/coverage-v8": [],
  knip: [],
  oxfmt: [],
  oxlint: [],
  "oxlint-tsgolint": [],
  tsx: ["local"],
  typescript: [],
  vite: ["test/kv/embedded"],
};

/** Folders that import no built-in module of Node: what they need comes in as a value. */
export const WITHOUT_BUILTINS: readonly string[] = ["src/core", "src/ports", "src/errors.ts"];

/** Files that load modules by a name that is computed, and why. */
export const COMPUTED_IMPORTS: Readonly<Record<string, string>> = {
  "consumers/kafka/guards/pin.ts": "loads internals of kafkajs after checking their digest",
  "test/consumers/kafka/guards/guards.test.ts": "calls the same internals of kafkajs",
};

/** Longest file in lines, by where it stands; the first row that holds a file counts. */
export const FILE_LINES: readonly { readonly place: string; readonly max: number }[] = [
  { place: "test", max: 500 },
  { place: "", max: 300 },
];

/** Files whose length is not judged: catalogues. */
export const LENGTH_EXEMPT: readonly string[] = ["src/errors.ts"];

/** Longest function in lines. */
export const FUNCTION_LINES = 60;

/** What must not stand in code (comments and texts aside), and what to use instead. */
export interface Ban {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Where it may stand. */
  readonly allowed: readonly string[];
}

const OUTSIDE = ["local", "bench", "test"];

export const CODE_BANS: readonly Ban[] = [
  { pattern: /\bDate\.now\b/, instead: "Clock.now()", allowed: ["src/clock.ts", ...OUTSIDE] },
  { pattern: /\bnew Date\(\s*\)/, instead: "Clock.now()", allowed: ["src/clock.ts", ...OUTSIDE] },
  { pattern: /\bperformance\.now\b/, instead: "Clock.monotonic()", allowed: ["src/clock.ts", ...OUTSIDE] },
  { pattern: /\bhrtime\b/, instead: "Clock.monotonic()", allowed: ["src/clock.ts", ...OUTSIDE] },
  { pattern: /\bset(?:Timeout|Interval)\b/, instead: "Clock.after()", allowed: ["src/clock.ts", ...OUTSIDE] },
  { pattern: /\bMath\.random\b/, instead: "node:crypto, or a seeded generator", allowed: [...OUTSIDE] },
  {
    pattern: /\bprocess\.env\b/,
    instead: "src/config",
    allowed: ["src/config", "src/cli", "vitest.config.ts", ...OUTSIDE],
  },
  { pattern: /\bconsole\b/, instead: "the Logger port", allowed: ["src/cli", ...OUTSIDE] },
  // The linter finds what this misses; a variable may have the name.
  { pattern: /\bas\s+any\b|:\s*any\s*[,;)=]|<any\b|\bany\[\]|,\s*any>/, instead: "unknown, and a check", allowed: [] },
  { pattern: /\bas\s+unknown\s+as\b/, instead: "a type guard", allowed: [] },
  {
    pattern: /\bexport\s+default\b/,
    instead: "a named export",
    allowed: ["vitest.config.ts", "vitest.soak.config.ts", "test/support/global-broker.ts", "test/support/reporter.ts"],
  },
  { pattern: /\b(?:const\s+)?enum\s+\w+\s*\{/, instead: "an `as const` list and its union", allowed: [] },
];

/** What must not stand in any text file under version control, and what to do instead. Split so that this file may say it. */
const joined = (...parts: readonly string[]) => parts.join("");

export const TEXT_BANS: readonly Ban[] = [
  {
    pattern: new RegExp(`\\b(?:${joined("TO", "DO")}|${joined("FIX", "ME")})\\b`),
    instead: "do it, or write down why not",
    allowed: [],
  },
  {
    pattern: new RegExp(joined("@ts-", "(?:ignore|nocheck)")),
    instead: "@ts-expect-error with its reason, or a right type",
    allowed: [],
  },
  {
    pattern: new RegExp(joined("(?<![\\w.$}])/", "(?:work|root)/")),
    instead: "a path relative to the repository",
    allowed: [],
  },
  {
    pattern: new RegExp(joined("(?<![\\w.$}])/", "home/(?!node\\b)\\w")),
    instead: "a path relative to the repository",
    allowed: [],
  },
  {
    pattern: new RegExp(joined("\\bregistry\\.", "[a-z0-9-]+\\.[a-z]")),
    instead: "the registry that npm is configured with",
    allowed: [],
  },
  {
    pattern: new RegExp(joined('"resolved": ', '"https?:')),
    instead: "a lock file without addresses: every package by name, version and digest",
    allowed: [],
  },
];

/** Where exports carry a doc comment. */
export const DOCUMENTED: readonly string[] = ["src/core", "src/ports"];

/** Where every folder appears in the file map of src/DESIGN.md, by its path or within the row of a folder above it. */
export const MAPPED: readonly string[] = ["src", "routes", "consumers"];
