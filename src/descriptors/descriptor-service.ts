import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { DefinitionView, SourceChanges } from "../ports/control-plane.ts";
import type {
  Activation,
  CompatibilityView,
  DescriptorCommands,
  DescriptorPage,
  DescriptorProposal,
  DescriptorVersionView,
  DescriptorView,
  LedgerPage,
  RegisteredView,
  UnknownFieldsView,
} from "../ports/descriptors.ts";
import type { Order } from "../ports/operators.ts";
import { LedgerReader } from "./ledger-reader.ts";
import { DescriptorRegistry, type RegistryParts } from "./registry.ts";
import { type RemovalParts, removeVersion } from "./removal.ts";

export interface DescriptorServiceParts extends RegistryParts, Omit<RemovalParts, "logStart"> {
  readonly fleet: Pick<Fleet, "service" | "inForce">;
  readonly sources: Pick<SourceChanges, "define">;
}

/** Descriptor versions, and what sources decode by. */
export class DescriptorService implements DescriptorCommands {
  readonly #parts: DescriptorServiceParts;
  readonly #registry: DescriptorRegistry;
  readonly #ledgers: LedgerReader;

  constructor(parts: DescriptorServiceParts) {
    this.#parts = parts;
    this.#registry = new DescriptorRegistry(parts);
    this.#ledgers = new LedgerReader(parts.control);
  }

  register(subject: string, proposal: DescriptorProposal, order: Order): Promise<RegisteredView> {
    return this.#registry.register(subject, proposal, order);
  }

  check(subject: string, proposal: DescriptorProposal): Promise<CompatibilityView> {
    return this.#registry.check(subject, proposal);
  }

  list(subject: string, cursor: string | undefined): Promise<DescriptorPage> {
    return this.#registry.list(subject, cursor);
  }

  get(subject: string, version: number): Promise<DescriptorView> {
    return this.#registry.get(subject, version);
  }

  remove(subject: string, version: number, order: Order): Promise<DescriptorVersionView> {
    return removeVersion(
      { ...this.#parts, logStart: (source, partition) => this.#logStart(source, partition) },
      subject,
      version,
      order,
    );
  }

  /** Undefined where this process does not run the source, or has not read its log yet. */
  #logStart(source: string, partition: number): number | undefined {
    try {
      const answer = this.#parts.fleet.service(source).readings.answers.get(partition);
      return answer?.known === true ? answer.logStart : undefined;
    } catch (error) {
      if (error instanceof StreamsError) return undefined;
      throw error;
    }
  }

  /**
   * A change of the definition, and of nothing else in it. Going back is a change like any other, with a revision of its own.
   * A message that was the version's own becomes that of the new version: packages move.
   */
  async activate(source: string, activation: Activation, ifMatch: string, order: Order): Promise<DefinitionView> {
    const { audit, sources } = this.#parts;
    const { version, mapping } = activation;
    const detail = `version ${version}${activation.message === undefined ? "" : `, message ${activation.message}`}${mapping === undefined ? "" : ", with a mapping"}`;
    this.#parts.fleet.inForce(source);
    const call = { ...order, action: "activate-descriptor", source, partition: null, detail } as const;
    return audit.around(call, async (id) => {
      const { definition } = this.#parts.fleet.inForce(source);
      const descriptor = await this.#descriptor(definition.descriptor, activation);
      const changed = { ...definition, descriptor, mapping: mapping ?? definition.mapping };
      const view = await sources.define(source, changed, ifMatch);
      await audit.finish(id, []);
      return view;
    });
  }

  async #descriptor(
    present: { readonly subject: string; readonly version: number; readonly message: string } | undefined,
    { version, message }: Activation,
  ) {
    if (present === undefined) {
      throw new StreamsError("DEFINITION_CHANGE_REFUSED", "the source's format has no descriptor", {
        fields: ["descriptor"],
      });
    }
    const { catalog } = this.#parts;
    const { subject } = present;
    const next = await catalog.get(subject, version);
    await catalog.refuseRemoved(subject, version);
    if (message !== undefined) return { subject, version, message };
    const own = (await catalog.get(subject, present.version)).message === present.message;
    return { subject, version, message: own ? next.message : present.message };
  }

  ledger(source: string, partition: number | undefined, cursor: string | undefined): Promise<LedgerPage> {
    this.#parts.fleet.inForce(source);
    return this.#ledgers.read(source, partition, cursor);
  }

  unknownFields(source: string): readonly UnknownFieldsView[] {
    const { verdicts } = this.#parts.fleet.service(source).parts;
    return verdicts.loaded().map(({ revision, decoder }) => ({
      revision,
      descriptorVersion: decoder.descriptorVersion,
      fields: [...decoder.unknownFields()]
        .map(([path, count]) => ({ path, count }))
        .toSorted((a, b) => b.count - a.count),
    }));
  }
}
