import { resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { buildConfig } from "./build.ts";
import { configError, type ConfigFault } from "./fault.ts";
import { ConfigReader } from "./reader.ts";
import { FileSchema } from "./schema.ts";
import { SourceSchema, type SourceValues } from "./schema-source.ts";
import { codeOf, type ReadFile } from "./secrets.ts";
import type { LoadedConfig } from "./types.ts";
import { FILE_BYTES_MAX, parseYaml, type YamlFile } from "./yaml.ts";

/** File that is read when `STREAMS_CONFIG` names none; it may be missing, then the defaults are in force. */
export const DEFAULT_FILE = "streams.yaml";

/** What {@link loadConfig} works on. */
export interface ConfigInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative paths, in the file too, start here. */
  readonly cwd: string;
  readonly readFile: ReadFile;
}

/**
 * Reads the configuration. Depends on nothing but its inputs; the result is deeply frozen.
 * @throws StreamsError CONFIG_INVALID with every fault that was found, one a line
 */
export function loadConfig(inputs: ConfigInputs): LoadedConfig {
  const file = configFile(inputs);
  const parsed = file === undefined ? undefined : parseYaml(file.bytes);
  if (isFaults(parsed)) throw configError(parsed, file?.shown);
  const reader = new ConfigReader(parsed, inputs.env);
  const values = withoutFaultySources(reader, reader.read(FileSchema));
  // The reader and the schema must agree; where they do not, the schema decides.
  const whole = reader.faults.length > 0 ? withoutFaultyBlocks(values.file) : values.file;
  if (!Value.Check(FileSchema, whole))
    throw configError([...reader.faults, ...schemaFaults(reader, whole)], file?.shown);
  const { config, warnings } = buildConfig(reader, whole, values.sources, inputs);
  if (reader.faults.length > 0) throw configError(reader.faults, file?.shown, config.sources);
  return {
    config: freeze(config),
    provenance: reader.provenance,
    ...(file === undefined ? {} : { file: file.path }),
    warnings,
  };
}

/** Sources that have faults of their own are left out of what is checked between sources; the others keep their index. */
function withoutFaultySources(
  reader: ConfigReader,
  values: unknown,
): { readonly file: unknown; readonly sources: readonly (SourceValues | undefined)[] } {
  if (typeof values !== "object" || values === null || !("sources" in values)) return { file: values, sources: [] };
  const entries: readonly unknown[] = Array.isArray(values.sources) ? values.sources : [];
  const isFaulty = (index: number) => reader.faults.some((fault) => fault.path.startsWith(`sources[${index}]`));
  const sources = entries.map((entry, index) =>
    Value.Check(SourceSchema, entry) && !isFaulty(index) ? entry : undefined,
  );
  const whole = sources.filter((entry) => entry !== undefined);
  return { file: reader.faults.length > 0 ? { ...values, sources: whole } : values, sources };
}

/** Blocks that have faults are as if they were not there, so that what is wrong with the others can still be found. */
function withoutFaultyBlocks(values: unknown): unknown {
  const defaults = new ConfigReader(undefined, {}).read(FileSchema);
  if (typeof defaults !== "object" || typeof values !== "object") return defaults;
  const given = Object.entries(values ?? {}).filter(([key, block]) => {
    const schema = Object.entries(FileSchema.properties).find(([name]) => name === key)?.[1];
    return schema !== undefined && Value.Check(schema, block);
  });
  return { ...defaults, ...Object.fromEntries(given) };
}

function schemaFaults(reader: ConfigReader, values: unknown): readonly ConfigFault[] {
  if (reader.faults.length > 0) return [];
  return [...Value.Errors(FileSchema, values)].map((error) => ({
    path: error.path.slice(1).replaceAll("/", "."),
    found: "the value does not fit the schema",
    right: error.message,
  }));
}

interface GivenFile {
  readonly path: string;
  /** As the operator named it. */
  readonly shown: string;
  readonly bytes: Uint8Array;
}

function configFile({ env, cwd, readFile }: ConfigInputs): GivenFile | undefined {
  const named = env["STREAMS_CONFIG"];
  if (named === "") {
    throw configError([{ path: "", found: "STREAMS_CONFIG is empty", right: "name a file, or unset it" }]);
  }
  const shown = named ?? DEFAULT_FILE;
  const path = resolve(cwd, shown);
  try {
    return { path, shown, bytes: readFile(path, FILE_BYTES_MAX) };
  } catch (cause) {
    if (named === undefined && codeOf(cause) === "ENOENT") return undefined;
    throw configError(
      [{ path: "", found: `it cannot be read (${codeOf(cause)})`, right: "name a file that this process may read" }],
      shown,
    );
  }
}

function isFaults(parsed: YamlFile | readonly ConfigFault[] | undefined): parsed is readonly ConfigFault[] {
  return Array.isArray(parsed);
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}
