import type { KindName } from "../core/source.ts";
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

const TOPIC_LENGTH_MAX = 249;

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
  refuseShared(reader, seeds, "name", "a name belongs to one source");
  refuseShared(reader, seeds, "group", "two sources in one group take each other's commits");
  refuseShared(reader, seeds, "namespace", "a namespace has one source");
  refuseCircles(reader, seeds);
  return seeds.filter((seed) => seed !== undefined);
}

function readSource(reader: ConfigReader, entry: SourceValues, path: string): SourceSeed {
  const { name, kind, topic, format, framing, body, startFrom, onPoison, createDeadLetterTopic } = entry;
  const group = entry.group ?? computed(reader, `${path}.group`, `ysearch-streams.${name}`);
  const namespace = entry.namespace ?? computed(reader, `${path}.namespace`, name);
  const deadLetterTopic = entry.deadLetterTopic ?? computed(reader, `${path}.deadLetterTopic`, `${topic}.dlq`);
  if (deadLetterTopic === topic) {
    reader.fault(
      `${path}.deadLetterTopic`,
      "it is the source's own topic",
      "name another: dead letters would be read again",
    );
  }
  if (deadLetterTopic.length > TOPIC_LENGTH_MAX) {
    reader.fault(
      `${path}.deadLetterTopic`,
      `"<topic>.dlq" would have ${deadLetterTopic.length} characters`,
      `name one of at most ${TOPIC_LENGTH_MAX}`,
    );
  }
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
    onPoison,
    deadLetterTopic,
    createDeadLetterTopic,
  };
}

function readDescriptor(reader: ConfigReader, entry: SourceValues, path: string): DescriptorSeed | undefined {
  if (entry.format === "protobuf") {
    return (
      entry.descriptor ?? { subject: computed(reader, `${path}.descriptor.subject`, BUILT_IN_SUBJECTS[entry.kind]) }
    );
  }
  if (entry.descriptor !== undefined) {
    reader.fault(`${path}.descriptor`, `a descriptor with format ${entry.format}`, "remove it, or use format protobuf");
  }
  return undefined;
}

/** Dead letters that come back to where they were read are poison for ever, by however many sources. */
function refuseCircles(reader: ConfigReader, seeds: readonly (SourceSeed | undefined)[]): void {
  for (const [index, seed] of seeds.entries()) {
    if (seed === undefined) continue;
    const passed = new Set<string>([seed.topic]);
    let at: SourceSeed | undefined = seed;
    while (at !== undefined) {
      const next: SourceSeed | undefined = seeds.find((other) => other?.topic === at?.deadLetterTopic);
      if (next?.topic === seed.topic && at !== seed) {
        const why = "name another: dead letters would come back to the topic that they were read from";
        reader.fault(`sources[${index}].deadLetterTopic`, `"${seed.deadLetterTopic}" is read by a source`, why);
      }
      at = next === undefined || passed.has(next.topic) ? undefined : next;
      if (next !== undefined) passed.add(next.topic);
    }
  }
}

function computed(reader: ConfigReader, path: string, value: string): string {
  reader.provenance.set(path, "default");
  return value;
}

function refuseShared(
  reader: ConfigReader,
  seeds: readonly (SourceSeed | undefined)[],
  key: "name" | "group" | "namespace",
  why: string,
): void {
  const first = new Map<string, number>();
  for (const [index, seed] of seeds.entries()) {
    if (seed === undefined) continue;
    const earlier = first.get(seed[key]);
    if (earlier === undefined) {
      first.set(seed[key], index);
    } else {
      reader.fault(`sources[${index}].${key}`, `"${seed[key]}" is also that of sources[${earlier}]`, why);
    }
  }
}
