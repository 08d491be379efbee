import { kinds } from "../../consumers/index.ts";
import type { SourceSeed } from "../config/index.ts";
import type { SourceDefinition } from "../core/source.ts";
import { createDecoderCompiler } from "../decoding/compiler.ts";
import { BUILTIN_DESCRIPTORS } from "../descriptors/builtin.ts";
import { StreamsError } from "../errors.ts";
import { compileVerdict } from "../fleet/verdicts.ts";

/**
 * What keeps configured sources from running with this build, found without a store or a broker: a kind that it does not
 * have, a message or mapping that does not fit a descriptor of the build. One line each.
 */
export async function sourceFaults(sources: readonly SourceSeed[]): Promise<readonly string[]> {
  const faults = await Promise.all(sources.map(faultOf));
  return faults.filter((fault) => fault !== undefined);
}

async function faultOf(seed: SourceSeed): Promise<string | undefined> {
  const builtin = BUILTIN_DESCRIPTORS.find(({ subject }) => subject === seed.descriptor?.subject);
  // Only the store knows what was registered: the source is looked at when it is first defined.
  if (seed.descriptor !== undefined && builtin === undefined) return undefined;
  const { descriptor, mapping, ...rest } = seed;
  const definition: SourceDefinition = {
    ...rest,
    mapping: mapping ?? (builtin === undefined ? {} : (kinds.get(seed.kind)?.defaultMapping ?? {})),
    ...(descriptor === undefined || builtin === undefined
      ? {}
      : { descriptor: { subject: builtin.subject, version: 1, message: descriptor.message ?? builtin.message } }),
  };
  try {
    await compileVerdict(definition, 1, {
      compiler: createDecoderCompiler(),
      kinds,
      descriptor: (subject, version) => Promise.resolve({ subject, version, files: builtin?.files ?? {} }),
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof StreamsError)) throw error;
    const place = `source ${seed.name}: `;
    return `${place}${error.code}: ${error.message.startsWith(place) ? error.message.slice(place.length) : error.message}`;
  }
}
