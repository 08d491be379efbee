import type { SourceSeed } from "../config/types.ts";
import type { KindName, Mapping, SourceDefinition } from "../core/source.ts";
import type { DescriptorCatalog } from "../descriptors/catalog.ts";
import { StreamsError } from "../errors.ts";
import type { Kind } from "../ports/kind.ts";

export interface ResolveDependencies {
  readonly catalog: DescriptorCatalog;
  readonly kinds: ReadonlyMap<KindName, Kind>;
  /** Subjects that ship with the build: for them a kind's own mapping fits. */
  readonly builtinSubjects: ReadonlySet<string>;
}

/**
 * Completes what a configuration file says of a source: the descriptor version becomes the latest one, the message that
 * of the subject, the mapping that of the kind. @throws StreamsError DESCRIPTOR_UNKNOWN; KvFault
 */
export async function resolveSeed(seed: SourceSeed, dependencies: ResolveDependencies): Promise<SourceDefinition> {
  const { descriptor, mapping, ...rest } = seed;
  if (descriptor === undefined) return { ...rest, mapping: mapping ?? {} };
  const { catalog } = dependencies;
  const version = descriptor.version ?? (await catalog.latest(descriptor.subject));
  if (version === 0) {
    throw new StreamsError(
      "DESCRIPTOR_UNKNOWN",
      `source ${seed.name}: subject ${descriptor.subject} is not registered`,
    );
  }
  const entry = await catalog.get(descriptor.subject, version);
  return {
    ...rest,
    descriptor: { subject: descriptor.subject, version, message: descriptor.message ?? entry.message },
    mapping: mapping ?? defaultMapping(seed, dependencies),
  };
}

function defaultMapping(seed: SourceSeed, { kinds, builtinSubjects }: ResolveDependencies): Mapping {
  const builtin = seed.descriptor !== undefined && builtinSubjects.has(seed.descriptor.subject);
  return builtin ? (kinds.get(seed.kind)?.defaultMapping ?? {}) : {};
}

/**
 * Names of the members in which the file says something else than what is in force, sorted. What it leaves open (descriptor
 * version and message, mapping) agrees with whatever is in force for the same kind and subject, as for `apply`.
 */
export function seedDifferences(seed: SourceSeed, inForce: SourceDefinition): readonly string[] {
  const { descriptor, mapping, ...rest } = seed;
  const sameShape = seed.kind === inForce.kind && descriptor?.subject === inForce.descriptor?.subject;
  const kept = sameShape ? inForce : undefined;
  return differences(inForce, {
    ...rest,
    ...(descriptor === undefined ? {} : { descriptor: { ...kept?.descriptor, ...descriptor } }),
    mapping: mapping ?? (descriptor === undefined ? {} : kept?.mapping),
  });
}

/** Names of the members in which two definitions differ, sorted. */
export function differences(a: object, b: object): readonly string[] {
  const left: Readonly<Record<string, unknown>> = { ...a };
  const right: Readonly<Record<string, unknown>> = { ...b };
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].filter((name) => canonical(left[name]) !== canonical(right[name])).toSorted();
}

/** JSON with sorted keys, so that equal content is equal text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
