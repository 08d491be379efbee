import type { AuditLog } from "../audit/audit-log.ts";
import type { DescriptorRecord } from "../control/records.ts";
import type { SourceDefinition } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { CompatibilityAnswer, DescriptorJudge, MappedField, ReadDescriptor } from "../ports/descriptor-checks.ts";
import type {
  CompatibilityView,
  DescriptorPage,
  DescriptorProposal,
  DescriptorVersionView,
  DescriptorView,
  RegisteredView,
  VersionDifference,
} from "../ports/descriptors.ts";
import type { Order } from "../ports/operators.ts";
import type { DescriptorCatalog, StoredVersion } from "./catalog.ts";

/** Versions of one answer. */
const PAGE_MAX = 50;
/** Versions of one subject: each is compared with all before it. */
const VERSIONS_MAX = 512;

export interface RegistryParts {
  readonly catalog: DescriptorCatalog;
  readonly judge: DescriptorJudge;
  readonly audit: AuditLog;
  readonly clock: Clock;
  /** All definitions in force. @throws KvFault */
  readonly definitions: () => Promise<readonly SourceDefinition[]>;
}

/** An upload, beside all versions of its subject. */
interface Examined {
  readonly read: ReadDescriptor;
  readonly versions: readonly StoredVersion[];
  /** The version that has the same content. */
  readonly same: StoredVersion | undefined;
}

/** Registers descriptor versions and reads them. */
export class DescriptorRegistry {
  readonly #parts: RegistryParts;
  /** The last registration of each subject that is under way; never rejects. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(parts: RegistryParts) {
    this.#parts = parts;
  }

  /** See `DescriptorCommands.register`. Registrations of one subject wait for each other; other instances are met by compare-and-set. */
  async register(subject: string, proposal: DescriptorProposal, order: Order): Promise<RegisteredView> {
    const before = this.#turns.get(subject) ?? Promise.resolve();
    const mine = before.then(() => this.#register(subject, proposal, order));
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(subject, settled);
    void settled.then(() => {
      if (this.#turns.get(subject) === settled) this.#turns.delete(subject);
    });
    return mine;
  }

  async #register(subject: string, proposal: DescriptorProposal, order: Order): Promise<RegisteredView> {
    const examined = await this.#examine(subject, proposal);
    if (examined.same !== undefined) return { view: viewOf(subject, examined.same), created: false };
    const { audit } = this.#parts;
    const { message, digest } = examined.read;
    const detail = `subject ${subject}, message ${message}, digest ${digest.content}`;
    const call = { ...order, action: "register-descriptor", source: "", partition: null, detail } as const;
    return audit.around(call, async (id) => {
      const registered = await this.#store(subject, proposal, examined, order.actor);
      await audit.finish(id, []);
      return registered;
    });
  }

  /** Where another instance was faster, what it stored is looked at like all before it. */
  async #store(
    subject: string,
    proposal: DescriptorProposal,
    examined: Examined,
    actor: string,
  ): Promise<RegisteredView> {
    for (let present = examined; ; present = await this.#examine(subject, proposal)) {
      const { read, versions, same } = present;
      if (same !== undefined) return { view: viewOf(subject, same), created: false };
      if (versions.length >= VERSIONS_MAX) {
        throw new StreamsError("DESCRIPTORS_TOO_MANY", `subject ${subject} has ${versions.length} versions`);
      }
      await this.#refuseIncompatible(subject, present);
      const version = versions.length + 1;
      const { files, message, digest } = read;
      const at = this.#parts.clock.now();
      const record = { files: { ...files }, message, digest: digest.content, layout: digest.layout, actor, at };
      if (await this.#parts.catalog.store(subject, version, record)) {
        return { view: viewOf(subject, { version, record }), created: true };
      }
    }
  }

  async #refuseIncompatible(subject: string, examined: Examined): Promise<void> {
    const { breaking, ...answer } = await this.#compare(subject, examined);
    if (breaking === 0) return;
    const differences = differencesOf(examined, answer.reasons).filter(({ breaks }) => breaks);
    const [first] = differences;
    const example =
      first === undefined
        ? ""
        : `: ${first.type}${first.number === undefined ? "" : ` = ${first.number}`}: ${first.text}`;
    throw new StreamsError("DESCRIPTOR_INCOMPATIBLE", `${breaking} differences break${example}`, { differences });
  }

  /** See `DescriptorCommands.check`. */
  async check(subject: string, proposal: DescriptorProposal): Promise<CompatibilityView> {
    const examined = await this.#examine(subject, proposal);
    const { read, same } = examined;
    const { reasons, total, breaking } = await this.#compare(subject, examined);
    return {
      compatible: breaking === 0 || same !== undefined,
      message: read.message,
      digest: read.digest.content,
      sameAs: same?.version,
      differences: differencesOf(examined, reasons),
      total,
    };
  }

  async #examine(subject: string, { upload, message }: DescriptorProposal): Promise<Examined> {
    const { catalog, judge } = this.#parts;
    const versions = await catalog.versions(subject);
    const newest = versions.findLast(({ record }) => record.removed === undefined);
    const read = await judge.read(upload, message, newest?.record.message);
    const indexed = await this.#readsByIndex(subject);
    for (const version of versions.toReversed()) {
      const digest = await this.#digestOf(version.record);
      if (digest?.content !== read.digest.content) continue;
      // The Confluent framing counts messages: there another order is another descriptor.
      if (!indexed || digest.layout === read.digest.layout) return { read, versions, same: version };
    }
    return { read, versions, same: undefined };
  }

  async #readsByIndex(subject: string): Promise<boolean> {
    const definitions = await this.#parts.definitions();
    return definitions.some(({ framing, descriptor }) => framing === "confluent" && descriptor?.subject === subject);
  }

  async #digestOf({ files, digest, layout, removed }: DescriptorRecord) {
    if (removed !== undefined) return undefined;
    // An earlier release made the digest of the text.
    return layout === undefined ? this.#parts.judge.digest(files) : { content: digest, layout };
  }

  async #compare(subject: string, { read, versions }: Examined): Promise<CompatibilityAnswer> {
    const before = kept(versions).map(({ record }) => record.files);
    if (before.length === 0) return { reasons: [], total: 0, breaking: 0 };
    const definitions = await this.#parts.definitions();
    const mapped = definitions.flatMap(({ descriptor, mapping }): MappedField[] =>
      descriptor?.subject === subject
        ? Object.values(mapping).map((path) => ({ message: descriptor.message, path }))
        : [],
    );
    return this.#parts.judge.compatibility({ before, after: read.files, mapped });
  }

  /** See `DescriptorCommands.list`. */
  async list(subject: string, cursor: string | undefined): Promise<DescriptorPage> {
    const { catalog } = this.#parts;
    const latest = await catalog.latest(subject);
    if (latest === 0) throw new StreamsError("DESCRIPTOR_NOT_FOUND", `there is no subject ${subject}`);
    const below = cursor === undefined ? latest + 1 : Number(cursor);
    if (!Number.isSafeInteger(below) || below < 2 || below > latest + 1) {
      throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of this subject");
    }
    const numbers = Array.from({ length: Math.min(PAGE_MAX, below - 1) }, (_, index) => below - 1 - index);
    const versions = await Promise.all(numbers.map((version) => this.get(subject, version)));
    const last = numbers.at(-1) ?? 1;
    return { versions: versions.map(({ files: _files, ...view }) => view), next: last > 1 ? String(last) : undefined };
  }

  /** See `DescriptorCommands.get`. */
  async get(subject: string, version: number): Promise<DescriptorView> {
    const record = (await this.#parts.catalog.record(subject, version))?.value;
    if (record === undefined) {
      throw new StreamsError("DESCRIPTOR_NOT_FOUND", `subject ${subject} has no version ${version}`);
    }
    return { ...viewOf(subject, { version, record }), files: record.files };
  }
}

function kept(versions: readonly StoredVersion[]): readonly StoredVersion[] {
  return versions.filter(({ record }) => record.removed === undefined);
}

/** The judge counts versions as they were given to it. */
function differencesOf({ versions }: Examined, reasons: CompatibilityAnswer["reasons"]): VersionDifference[] {
  const compared = kept(versions);
  return reasons.map(({ against, ...reason }) => ({ ...reason, againstVersion: compared[against]?.version ?? 0 }));
}

/** A version as it is shown. */
export function viewOf(subject: string, { version, record }: StoredVersion): DescriptorVersionView {
  const { message, digest, layout, actor, at, removed } = record;
  const content = layout === undefined ? undefined : digest;
  return { subject, version, message, digest: content, actor, registeredAt: at, removed };
}
