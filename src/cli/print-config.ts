import { Document, isScalar, isSeq } from "yaml";
import type { CountingOfSource } from "../core/source.ts";
import type { LoadedConfig, Origin, SourceSeed, StreamsConfig } from "../config/index.ts";
import { forEachLimit } from "../config/limits.ts";
import { spell } from "../config/relations.ts";
import { formatDuration } from "../config/units.ts";

/** What is in force, as YAML that reads back, each value with where it came from. Secrets are `(set)`. */
export function configText({ config, provenance, file }: LoadedConfig): string {
  const document = new Document(spelled(config));
  document.commentBefore = ` ${file === undefined ? "no file, defaults" : file}`;
  annotate(document, spelled(config), [], provenance);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function spelled(config: StreamsConfig): Record<string, unknown> {
  const { http, broker, kv, limits, log, sources } = config;
  const values: ReadonlyMap<string, number> = new Map(Object.entries(limits));
  return {
    http,
    broker: { ...broker, ...(broker.sasl === undefined ? {} : { sasl: { ...broker.sasl, password: "(set)" } }) },
    kv,
    limits: forEachLimit((row, name) => {
      const value = values.get(row.unit === "ms" ? `${name}Ms` : name) ?? 0;
      return row.unit === "ms" || row.unit === "bytes" ? spell(name, value) : value;
    }),
    log,
    sources: sources.map(spelledSource),
  };
}

function spelledSource(source: SourceSeed): Record<string, unknown> {
  const { worstLagMs, allowShortRetention, startFrom, counting, ...rest } = source;
  return {
    ...rest,
    ...(counting === undefined ? {} : { counting: spelledCounting(counting) }),
    startFrom: typeof startFrom === "string" ? startFrom : new Date(startFrom.timestampMs).toISOString(),
    worstLag: formatDuration(worstLagMs),
    allowShortRetention: allowShortRetention ?? false,
  };
}

function spelledCounting({ slotWidthMs, segmentEveryMs, ...rest }: CountingOfSource): Record<string, unknown> {
  return { ...rest, slotWidth: formatDuration(slotWidthMs), segmentEvery: formatDuration(segmentEveryMs) };
}

type Path = readonly (string | number)[];

/** Writes the origin of each value behind it. A list of plain values stays on one line and has one origin. */
function annotate(document: Document, value: unknown, path: Path, provenance: ReadonlyMap<string, Origin>): void {
  const origin = provenance.get(pathText(path));
  const node = path.length === 0 ? undefined : document.getIn(path, true);
  if (origin !== undefined && (isScalar(node) || isSeq(node))) {
    const plain = isScalar(node) || node.items.every((item) => isScalar(item));
    if (plain) node.comment = ` ${origin}`;
    if (plain && isSeq(node)) node.flow = true;
    if (plain) return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    annotate(document, part, [...path, Array.isArray(value) ? Number(key) : key], provenance);
  }
}

function pathText(path: Path): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
