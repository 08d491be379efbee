import type { CountingOfSource, KindName } from "../core/source.ts";
import { type RelatedSource, sourceFaults } from "../core/source-relations.ts";
import type { ConfigReader } from "./reader.ts";
import type { SourceValues } from "./schema-source.ts";
import type { DescriptorSeed, SourceSeed } from "./types.ts";

/** Subject of the descriptor that is built in for each kind. */
export const BUILT_IN_SUBJECTS: Readonly<Record<KindName, string>> = {
  documents: "ysearch.article",
  traffic: "ysearch.beacon",
  campaigns: "ysearch.campaign",
  dials: "ysearch.dial",
  ad_actions: "ysearch.ad_action",
};

/**
 * Completes the entries of `sources` and notes what does not go together, within one and between them. Entries that
 * already have faults are undefined and left out.
 */
export function readSources(
  reader: ConfigReader,
  entries: readonly (SourceValues | undefined)[],
): readonly SourceSeed[] {
  const seeds = entries.map((entry, index) =>
    entry === undefined ? undefined : readSource(reader, entry, `sources[${index}]`),
  );
  refuse(reader, entries, seeds);
  return seeds.filter((seed) => seed !== undefined);
}

function readSource(reader: ConfigReader, entry: SourceValues, path: string): SourceSeed {
  const { name, kind, topic, format, framing, body, startFrom, onPoison, createDeadLetterTopic } = entry;
  const group = entry.group ?? computed(reader, `${path}.group`, `ysearch-streams.${name}`);
  const namespace = entry.namespace ?? computed(reader, `${path}.namespace`, name);
  const deadLetterTopic = entry.deadLetterTopic ?? computed(reader, `${path}.deadLetterTopic`, `${topic}.dlq`);
  const descriptor = readDescriptor(reader, entry, path);
  return {
    name,
    kind,
    topic,
    group,
    namespace,
    format,
    framing,
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(entry.mapping === undefined ? {} : { mapping: entry.mapping }),
    body,
    startFrom,
    worstLagMs: entry.worstLag,
    ...(entry.allowShortRetention ? { allowShortRetention: true } : {}),
    ...(entry.counting === undefined ? {} : { counting: countingOf(entry.counting) }),
    onPoison,
    deadLetterTopic,
    createDeadLetterTopic,
  };
}

function countingOf({
  slotWidth,
  visitors,
  scoreEdges,
  segmentEvery,
}: NonNullable<SourceValues["counting"]>): CountingOfSource {
  return { slotWidthMs: slotWidth, visitors, scoreEdges, segmentEveryMs: segmentEvery };
}

function readDescriptor(reader: ConfigReader, entry: SourceValues, path: string): DescriptorSeed | undefined {
  if (entry.format === "protobuf") {
    return (
      entry.descriptor ?? { subject: computed(reader, `${path}.descriptor.subject`, BUILT_IN_SUBJECTS[entry.kind]) }
    );
  }
  return undefined;
}

/** Each entry is held against those before it: a fault between two is noted at the later one. */
function refuse(
  reader: ConfigReader,
  entries: readonly (SourceValues | undefined)[],
  seeds: readonly (SourceSeed | undefined)[],
): void {
  const before: RelatedSource[] = [];
  for (const [index, seed] of seeds.entries()) {
    if (seed === undefined) continue;
    const { descriptor: resolved, ...rest } = seed;
    const descriptor = entries[index]?.descriptor ?? resolved;
    const source: RelatedSource = { ...rest, ...(descriptor === undefined ? {} : { descriptor }) };
    for (const { member, found, right } of sourceFaults(source, before)) {
      reader.fault(`sources[${index}].${member}`, found, right);
    }
    before.push(source);
  }
}

function computed(reader: ConfigReader, path: string, value: string): string {
  reader.provenance.set(path, "default");
  return value;
}
