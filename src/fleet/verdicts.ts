import { RevisionRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { invariant } from "../core/invariant.ts";
import type { RowCounter } from "../core/counting/count-records.ts";
import { countingOf, type KindName, type SourceDefinition } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { DecoderCompiler, Descriptor, DecoderSpec, InputsReader, RecordDecoder } from "../ports/decoder.ts";
import type { CountingKind, Kind, VersionedKind } from "../ports/kind.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** What decides whether a record of a versioned kind is written, and what is. */
export interface VersionedVerdict {
  readonly counting: false;
  readonly revision: number;
  readonly definition: SourceDefinition;
  readonly kind: VersionedKind;
  readonly decoder: RecordDecoder;
}

/** What decides whether a record of a counting kind counts, and how. */
export interface CountingVerdict {
  readonly counting: true;
  readonly revision: number;
  readonly definition: SourceDefinition;
  readonly kind: CountingKind;
  readonly decoder: InputsReader;
  readonly counter: RowCounter;
}

/** Everything that decides what becomes of a record under one revision. */
export type Verdict = VersionedVerdict | CountingVerdict;

export interface VerdictDependencies {
  readonly control: ControlStore;
  readonly compiler: DecoderCompiler;
  readonly kinds: ReadonlyMap<KindName, Kind>;
  /** @throws StreamsError DESCRIPTOR_UNKNOWN; KvFault */
  readonly descriptor: (subject: string, version: number) => Promise<Descriptor>;
}

/** Revisions that are taken along when another is put in force without a restart. */
const CARRIED = 8;

/**
 * The revisions of one source, each compiled once. A revision is immutable, so what is loaded here never goes stale; the
 * number of rows in a partition's ledger bounds how many there are.
 */
export class Verdicts {
  readonly #source: string;
  readonly #dependencies: VerdictDependencies;
  readonly #loaded = new Map<number, Verdict>();

  constructor(source: string, dependencies: VerdictDependencies) {
    this.#source = source;
    this.#dependencies = dependencies;
  }

  /** Loads revisions that are not there yet. @throws KvFault; StreamsError when one does not compile any more */
  async load(revisions: Iterable<number>): Promise<void> {
    for (const revision of new Set(revisions)) {
      if (this.#loaded.has(revision)) continue;
      const name = recordNames.revision(this.#source, revision);
      const record = await readRecord(this.#dependencies.control, name, RevisionRecord);
      invariant(record !== undefined, "REVISION_UNKNOWN", `${name} is named by a ledger but not stored`);
      this.#loaded.set(revision, await compileVerdict(record.value.definition, revision, this.#dependencies));
    }
  }

  /**
   * The same with the newest revisions only: a source that changes often keeps no more in memory than one that restarts. Whoever
   * uses it loads what it needs.
   */
  successor(): Verdicts {
    const next = new Verdicts(this.#source, this.#dependencies);
    for (const verdict of this.loaded().slice(-CARRIED)) next.#loaded.set(verdict.revision, verdict);
    return next;
  }

  /** @throws InvariantViolation when the revision has not been loaded */
  of(revision: number): Verdict {
    const verdict = this.#loaded.get(revision);
    invariant(verdict !== undefined, "REVISION_NOT_LOADED", `revision ${revision} of ${this.#source}`);
    return verdict;
  }

  /** @throws InvariantViolation when it has not been loaded, or counts */
  versioned(revision: number): VersionedVerdict {
    const verdict = this.of(revision);
    invariant(!verdict.counting, "REVISION_COUNTS", `revision ${revision} of ${this.#source} counts`);
    return verdict;
  }

  /** @throws InvariantViolation when it has not been loaded, or does not count */
  counting(revision: number): CountingVerdict {
    const verdict = this.of(revision);
    invariant(verdict.counting, "REVISION_VERSIONED", `revision ${revision} of ${this.#source} counts nothing`);
    return verdict;
  }

  /** Revisions compiled so far, ascending. */
  loaded(): readonly Verdict[] {
    return [...this.#loaded.values()].toSorted((a, b) => a.revision - b.revision);
  }
}

/** Compiles what a definition says. @throws StreamsError DESCRIPTOR_…, MAPPING_INVALID, CONFIG_INVALID for a kind that this build lacks */
export async function compileVerdict(
  definition: SourceDefinition,
  revision: number,
  dependencies: Omit<VerdictDependencies, "control">,
): Promise<Verdict> {
  const kind = dependencies.kinds.get(definition.kind);
  if (kind === undefined) {
    throw new StreamsError(
      "CONFIG_INVALID",
      `source ${definition.name}: this build does not run kind ${definition.kind}`,
    );
  }
  const spec = await specOf(definition, kind, dependencies);
  if (!kind.counting) {
    const decoder = dependencies.compiler.compile(spec);
    return { counting: false, revision, definition, kind, decoder };
  }
  const decoder = dependencies.compiler.compileInputs(spec);
  const { families, count } = kind.compile(definition.namespace, countingOf(definition));
  return { counting: true, revision, definition, kind, decoder, counter: { families, count, reader: decoder } };
}

async function specOf(
  { descriptor, format, framing, mapping, body }: SourceDefinition,
  kind: Kind,
  dependencies: Pick<VerdictDependencies, "descriptor">,
): Promise<DecoderSpec> {
  const spec: DecoderSpec = { format, framing, inputs: kind.inputs, mapping, body: kind.keepsBody ? body : "none" };
  if (descriptor === undefined) return spec;
  const { subject, version, message } = descriptor;
  return { ...spec, descriptor: { descriptor: await dependencies.descriptor(subject, version), message } };
}
