import type { SourceSeed } from "../config/types.ts";
import type { SourceDefinition } from "../core/source.ts";
import { seedDifferences } from "./resolve.ts";

/** What the configuration file of this instance says of its sources at the moment of the question. */
export class FileSources {
  readonly #read: () => readonly SourceSeed[];

  /** @param read the sources of the file as it is now; never throws */
  constructor(read: () => readonly SourceSeed[]) {
    this.#read = read;
  }

  /** Members in which the file says something else; empty when it agrees or does not name the source. */
  differences(inForce: SourceDefinition): readonly string[] {
    const seed = this.#read().find(({ name }) => name === inForce.name);
    return seed === undefined ? [] : seedDifferences(seed, inForce);
  }
}
