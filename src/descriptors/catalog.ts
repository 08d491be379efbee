import { DescriptorRecord, SubjectRecord, recordNames } from "../control/records.ts";
import { type Stored, readRecord, replaceRecord, updateRecord } from "../control/json-record.ts";
import { StreamsError } from "../errors.ts";
import type { Descriptor, ProtoFiles } from "../ports/decoder.ts";
import type { DescriptorDigest } from "../ports/descriptor-checks.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import { VersionCache } from "./version-cache.ts";

/** A descriptor that ships with the build. */
export interface BuiltinDescriptor {
  readonly subject: string;
  readonly files: ProtoFiles;
  /** Message that a source of this subject decodes unless it names another. */
  readonly message: string;
}

export interface CatalogEntry extends Descriptor {
  readonly message: string;
}

/** A version as it is stored. */
export interface StoredVersion {
  readonly version: number;
  readonly record: DescriptorRecord;
}

/** Records that are read at a time. */
const READ_AT_ONCE = 16;

/** The registered descriptor versions, in the KV plane, so that every instance decodes by the same ones. */
export class DescriptorCatalog {
  readonly #control: ControlStore;
  readonly #digest: (files: ProtoFiles) => DescriptorDigest;
  readonly #cache = new VersionCache<CatalogEntry>();

  /** @param digest of the content, from what is compiled */
  constructor(control: ControlStore, digest: (files: ProtoFiles) => DescriptorDigest) {
    this.#control = control;
    this.#digest = digest;
  }

  /**
   * Registers what ships with the build: a subject's first version, or a further one when no version has the build's
   * content. Two builds that take turns register one version each. Never activates anything: a source keeps the version that its definition names. @throws KvFault
   */
  async seed(builtins: readonly BuiltinDescriptor[]): Promise<void> {
    for (const { subject, files, message } of builtins) {
      const { content, layout } = this.#digest(files);
      for (;;) {
        const versions = await this.versions(subject);
        if (versions.some(({ record }) => this.#contentOf(record) === content)) break;
        const record = { files: { ...files }, message, digest: content, layout };
        if (await this.store(subject, versions.length + 1, record)) break;
      }
    }
  }

  /** An earlier release stored a digest of the text: content is made anew. Undefined for a version that was removed. */
  #contentOf({ files, digest, layout, removed }: DescriptorRecord): string | undefined {
    if (removed !== undefined) return undefined;
    return layout === undefined ? this.#digest(files).content : digest;
  }

  /**
   * All versions, the first one first, removed ones among them. One that is stored and not counted (its writer died in
   * between) is counted. @throws KvFault
   */
  async versions(subject: string): Promise<readonly StoredVersion[]> {
    const counted = await this.latest(subject);
    const found: StoredVersion[] = [];
    for (let first = 1; first <= counted; first += READ_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(READ_AT_ONCE, counted - first + 1) }, (_, index) => first + index);
      found.push(...(await Promise.all(numbers.map((version) => this.#counted(subject, version)))));
    }
    for (;;) {
      const version = found.length + 1;
      const stored = await this.record(subject, version);
      if (stored === undefined) return found;
      await this.#count(subject, version);
      found.push({ version, record: stored.value });
    }
  }

  async #counted(subject: string, version: number): Promise<StoredVersion> {
    return { version, record: (await this.#present(subject, version)).value };
  }

  /**
   * Stores a version under a number that is free, then counts it: a crash in between leaves a version that nobody can name
   * yet. Returns false when another one has the number: numbers are never given twice. @throws KvFault
   */
  async store(subject: string, version: number, record: DescriptorRecord): Promise<boolean> {
    const name = recordNames.descriptor(subject, version);
    const stored = await replaceRecord(this.#control, name, DescriptorRecord, undefined, record);
    if (stored) await this.#count(subject, version);
    return stored;
  }

  async #count(subject: string, version: number): Promise<void> {
    await updateRecord(this.#control, recordNames.subject(subject), SubjectRecord, (present) =>
      present !== undefined && present.latest >= version ? present : { latest: version },
    );
  }

  /** Newest version of a subject, 0 when there is none. @throws KvFault */
  async latest(subject: string): Promise<number> {
    return (await readRecord(this.#control, recordNames.subject(subject), SubjectRecord))?.value.latest ?? 0;
  }

  /** A version as the store has it now. @throws KvFault */
  async record(subject: string, version: number): Promise<Stored<DescriptorRecord> | undefined> {
    return readRecord(this.#control, recordNames.descriptor(subject, version), DescriptorRecord);
  }

  /** One version; immutable, so read once. @throws StreamsError DESCRIPTOR_UNKNOWN; KvFault */
  async get(subject: string, version: number): Promise<CatalogEntry> {
    const name = recordNames.descriptor(subject, version);
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    const { files, message, removed } = (await this.#present(subject, version)).value;
    if (removed !== undefined) throw unknown(subject, version, "was removed");
    const entry = { subject, version, files, message };
    this.#cache.set(name, entry, sizeOf(files));
    return entry;
  }

  /**
   * Refuses a version that is removed, or of which somebody looks whether it can be. Asked after a revision that names it was
   * stored: whoever removes marks it first and looks for revisions then, so one of the two sees the other.
   * @throws StreamsError DESCRIPTOR_UNKNOWN; KvFault
   */
  async refuseRemoved(subject: string, version: number): Promise<void> {
    const { removing, removed } = (await this.#present(subject, version)).value;
    if (removed !== undefined) throw unknown(subject, version, "was removed");
    if (removing !== undefined) throw unknown(subject, version, "is being removed: see its removal to an end first");
  }

  async #present(subject: string, version: number): Promise<Stored<DescriptorRecord>> {
    const record = await this.record(subject, version);
    if (record === undefined) throw unknown(subject, version, "does not exist");
    return record;
  }
}

function unknown(subject: string, version: number, why: string): StreamsError {
  return new StreamsError("DESCRIPTOR_UNKNOWN", `version ${version} of subject ${subject} ${why}`);
}

/** UTF-16 units of all files, for the cache. */
function sizeOf(files: ProtoFiles): number {
  return Object.entries(files).reduce((sum, [path, text]) => sum + path.length + text.length, 0);
}
