import type { SourceSeed } from "../config/types.ts";
import { RevisionRecord, SourceRecord, recordNames } from "../control/records.ts";
import { createRecord, readRecord, updateRecord, type Stored } from "../control/json-record.ts";
import { type SourceDefinition, verdictOf } from "../core/source.ts";
import { sourceFaults } from "../core/source-relations.ts";
import { StreamsError } from "../errors.ts";
import { compileVerdict, type VerdictDependencies } from "../fleet/verdicts.ts";
import { type ResolveDependencies, differences, resolveSeed } from "./resolve.ts";

/** A definition in force: what the control record says. */
export interface InForce {
  readonly definition: SourceDefinition;
  readonly revision: number;
  /** Changes with every change of the record. */
  readonly etag: string;
}

/** What cannot be changed in place: another log, another target or another shape of what is stored. */
const FIXED = ["name", "kind", "topic", "group", "namespace"] as const;

/**
 * The definitions of all sources, as control records. The file only seeds them: what is in force is the record, so that
 * instances with different files cannot disagree.
 */
export class DefinitionStore {
  readonly #dependencies: VerdictDependencies;
  readonly #resolve: ResolveDependencies;

  constructor(dependencies: VerdictDependencies, resolve: ResolveDependencies) {
    this.#dependencies = dependencies;
    this.#resolve = resolve;
  }

  /**
   * Seeds sources that have no record yet, and gives sources a new revision whose verdict rules have changed with this
   * build. Returns everything in force, sources that the file no longer names included, by name.
   * @throws StreamsError when a seed does not compile; KvFault
   */
  async load(seeds: readonly SourceSeed[]): Promise<readonly InForce[]> {
    const stored = new Map((await this.list()).map(({ definition }) => [definition.name, definition]));
    for (const seed of seeds) {
      const definition = await resolveSeed(seed, this.#resolve);
      await this.#check(definition);
      // What is in force is not touched by the file: a difference shows as drift, and `apply` is held against the others.
      if (!stored.has(definition.name)) refuseConflicts(definition, [...stored.values()], "CONFIG_INVALID");
      if (!stored.has(definition.name)) stored.set(definition.name, definition);
      await this.#seed(definition);
    }
    return this.list();
  }

  /** Everything in force, by name. @throws KvFault */
  async list(): Promise<readonly InForce[]> {
    const names = await this.#dependencies.control.list(recordNames.sources);
    const all = await Promise.all(names.map((name) => this.read(name.slice(recordNames.sources.length))));
    return all.filter((entry) => entry !== undefined);
  }

  /** Puts a definition in force. @throws StreamsError SOURCE_UNKNOWN, PRECONDITION_FAILED, DEFINITION_CHANGE_REFUSED, DEFINITION_CONFLICT, …; KvFault */
  async define(name: string, definition: SourceDefinition, ifMatch: string): Promise<InForce> {
    const { control } = this.#dependencies;
    const present = await readRecord(control, recordNames.source(name), SourceRecord);
    if (present === undefined) throw new StreamsError("SOURCE_UNKNOWN", `there is no source ${name}`);
    const changed = differences(present.value.definition, definition);
    // The answer to an earlier attempt may have been lost: what is in force already is not asked for twice.
    if (changed.length === 0) return view(present);
    if (present.tag !== ifMatch) throw new StreamsError("PRECONDITION_FAILED", "the definition has changed since");
    const refused = changed.filter((member) => FIXED.some((fixed) => fixed === member));
    if (refused.length > 0) {
      throw new StreamsError("DEFINITION_CHANGE_REFUSED", `cannot be changed in place: ${refused.join(", ")}`, {
        refused,
      });
    }
    refuseConflicts(definition, await this.#others(name), "DEFINITION_CONFLICT");
    await this.#check(definition);
    return view(await this.#put(name, definition, present));
  }

  /**
   * Puts a source in force that there is none of; what the seed leaves open is completed as at a start. A record that says
   * the same already is an earlier attempt whose answer was lost.
   * @throws StreamsError PRECONDITION_FAILED when there is another of this name, DEFINITION_CONFLICT, DESCRIPTOR_UNKNOWN, …; KvFault
   */
  async create(seed: SourceSeed): Promise<InForce> {
    const { name } = seed;
    const definition = await resolveSeed(seed, this.#resolve);
    const present = await readRecord(this.#dependencies.control, recordNames.source(name), SourceRecord);
    if (present === undefined) {
      refuseConflicts(definition, await this.#others(name), "DEFINITION_CONFLICT");
      await this.#check(definition);
    }
    const stored = present ?? (await this.#put(name, definition, undefined));
    if (differences(stored.value.definition, definition).length === 0) return view(stored);
    throw new StreamsError("PRECONDITION_FAILED", `there is a source ${name} already`);
  }

  async #others(name: string): Promise<readonly SourceDefinition[]> {
    return (await this.list()).map(({ definition }) => definition).filter((other) => other.name !== name);
  }

  async #seed(definition: SourceDefinition): Promise<void> {
    const { control } = this.#dependencies;
    const present = await readRecord(control, recordNames.source(definition.name), SourceRecord);
    if (present === undefined) return void (await this.#put(definition.name, definition, undefined));
    if (present.value.verdict === verdictOf(present.value.definition)) return;
    await this.#put(definition.name, present.value.definition, present);
  }

  /** Allots a revision if the verdict differs, then changes the record that was read. @throws StreamsError PRECONDITION_FAILED */
  async #put(name: string, definition: SourceDefinition, present: Stored<SourceRecord> | undefined) {
    const { control } = this.#dependencies;
    const verdict = verdictOf(definition);
    const known = present?.value.verdict === verdict ? present.value.revision : undefined;
    const revision = known ?? (await this.#allot(name, definition, verdict, (present?.value.revision ?? 0) + 1));
    // Only now: whoever removes the version looks for the revision that was just stored.
    if (definition.descriptor !== undefined && known === undefined) {
      await this.#resolve.catalog.refuseRemoved(definition.descriptor.subject, definition.descriptor.version);
    }
    const value: SourceRecord = { definition: mutable(definition), revision, verdict };
    const before = present?.tag;
    return updateRecord(control, recordNames.source(name), SourceRecord, (now) => {
      if (before === undefined && now !== undefined) return now;
      if (now !== undefined && JSON.stringify(now) !== JSON.stringify(present?.value)) {
        throw new StreamsError("PRECONDITION_FAILED", "the definition changed while it was being written");
      }
      return value;
    });
  }

  /**
   * Stores what a revision means before anybody can name it. A number that a crashed predecessor stored for another
   * content is passed over: numbers are never reused.
   */
  async #allot(name: string, definition: SourceDefinition, verdict: string, first: number): Promise<number> {
    for (let revision = first; ; revision += 1) {
      const stored = await createRecord(
        this.#dependencies.control,
        recordNames.revision(name, revision),
        RevisionRecord,
        {
          definition: mutable(definition),
          verdict,
        },
      );
      if (stored.value.verdict === verdict) return revision;
    }
  }

  /** @throws StreamsError when a decoder cannot be compiled from it */
  async #check(definition: SourceDefinition): Promise<void> {
    await compileVerdict(definition, 1, this.#dependencies);
  }

  /** What is in force for a source, undefined when there is none of this name. @throws KvFault */
  async read(name: string): Promise<InForce | undefined> {
    const record = await readRecord(this.#dependencies.control, recordNames.source(name), SourceRecord);
    return record === undefined ? undefined : view(record);
  }
}

function view({ tag, value }: Stored<SourceRecord>): InForce {
  return { definition: value.definition, revision: value.revision, etag: tag };
}

/** Holds a definition against itself and the others in force. @throws StreamsError with `code`, naming every fault */
function refuseConflicts(
  definition: SourceDefinition,
  others: readonly SourceDefinition[],
  code: "CONFIG_INVALID" | "DEFINITION_CONFLICT",
): void {
  const faults = sourceFaults(definition, others);
  if (faults.length === 0) return;
  const texts = faults.map(({ member, found, right }) => `${member}: ${found}; ${right}`);
  const members = [...new Set(faults.map(({ member }) => member))];
  throw new StreamsError(code, `source ${definition.name}: ${texts.join(". ")}`, { refused: members });
}

/** The record's schema speaks of mutable arrays; the definition is read-only everywhere else. */
function mutable(definition: SourceDefinition): SourceRecord["definition"] {
  const mapping = Object.fromEntries(Object.entries(definition.mapping).map(([input, path]) => [input, [...path]]));
  const { counting, ...rest } = definition;
  const counted = counting === undefined ? {} : { counting: { ...counting, scoreEdges: [...counting.scoreEdges] } };
  return { ...rest, ...counted, mapping };
}
