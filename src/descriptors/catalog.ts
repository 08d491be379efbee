import { createHash } from "node:crypto";
import { DescriptorRecord, SubjectRecord, recordNames } from "../control/records.ts";
import { createRecord, readRecord, updateRecord } from "../control/json-record.ts";
import { StreamsError } from "../errors.ts";
import type { Descriptor, ProtoFiles } from "../ports/decoder.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

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

/** The registered descriptor versions, in the KV plane, so that every instance decodes by the same ones. */
export class DescriptorCatalog {
  readonly #control: ControlStore;
  readonly #loaded = new Map<string, CatalogEntry>();

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /**
   * Registers what ships with the build: a subject's first version, or a further one when no version has the build's
   * content. Two builds that take turns register one version each. Never activates anything: a source keeps the version that its definition names. @throws KvFault
   */
  async seed(builtins: readonly BuiltinDescriptor[]): Promise<void> {
    for (const builtin of builtins) {
      const digest = digestOf(builtin.files);
      const latest = await this.latest(builtin.subject);
      if (!(await this.#has(builtin.subject, latest, digest))) await this.#register(builtin, digest, latest + 1);
    }
  }

  /** Whether a version up to `latest` has this content; the newest is the likeliest. */
  async #has(subject: string, latest: number, digest: string): Promise<boolean> {
    for (let version = latest; version >= 1; version -= 1) {
      const present = await readRecord(this.#control, recordNames.descriptor(subject, version), DescriptorRecord);
      if (present?.value.digest === digest) return true;
    }
    return false;
  }

  /**
   * The version is stored before the subject counts it: a crash in between leaves a version that nobody can name yet. If
   * it has another content than ours it is counted, and ours is the next one: numbers are never given twice.
   */
  async #register(builtin: BuiltinDescriptor, digest: string, first: number): Promise<void> {
    const { subject, files, message } = builtin;
    for (let version = first; ; version += 1) {
      const name = recordNames.descriptor(subject, version);
      const stored = await createRecord(this.#control, name, DescriptorRecord, {
        files: { ...files },
        message,
        digest,
      });
      await updateRecord(this.#control, recordNames.subject(subject), SubjectRecord, (present) =>
        present !== undefined && present.latest >= version ? present : { latest: version },
      );
      if (stored.value.digest === digest) return;
    }
  }

  /** Newest version of a subject, 0 when there is none. @throws KvFault */
  async latest(subject: string): Promise<number> {
    return (await readRecord(this.#control, recordNames.subject(subject), SubjectRecord))?.value.latest ?? 0;
  }

  /** One version; immutable, so read once. @throws StreamsError DESCRIPTOR_UNKNOWN; KvFault */
  async get(subject: string, version: number): Promise<CatalogEntry> {
    const name = recordNames.descriptor(subject, version);
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const record = await readRecord(this.#control, name, DescriptorRecord);
    if (record === undefined)
      throw new StreamsError("DESCRIPTOR_UNKNOWN", `subject ${subject} has no version ${version}`);
    const entry = { subject, version, files: record.value.files, message: record.value.message };
    this.#loaded.set(name, entry);
    return entry;
  }
}

/** Digest of a set of files whatever their order. */
function digestOf(files: ProtoFiles): string {
  const sorted = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
