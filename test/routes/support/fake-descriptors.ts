import { StreamsError } from "../../../src/errors.ts";
import type { DefinitionView } from "../../../src/ports/control-plane.ts";
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
} from "../../../src/ports/descriptors.ts";
import type { Order } from "../../../src/ports/operators.ts";

const VERSION: DescriptorVersionView = {
  subject: "ysearch.article",
  version: 1,
  message: "t.M",
  digest: "ab",
  actor: "script",
  registeredAt: 0,
  removed: undefined,
};

/** One version of fixed answers, and what was asked. The registry itself is tested over HTTP in `test/descriptors`. */
export class FakeDescriptors implements DescriptorCommands {
  readonly registered: { readonly subject: string; readonly proposal: DescriptorProposal; readonly order: Order }[] =
    [];
  readonly #definition: () => DefinitionView;

  constructor(definition: () => DefinitionView) {
    this.#definition = definition;
  }

  register(subject: string, proposal: DescriptorProposal, order: Order): Promise<RegisteredView> {
    this.registered.push({ subject, proposal, order });
    return Promise.resolve({ view: { ...VERSION, subject }, created: true });
  }

  check(): Promise<CompatibilityView> {
    return Promise.resolve({ compatible: true, message: "t.M", digest: "ab", sameAs: 1, differences: [], total: 0 });
  }

  list(): Promise<DescriptorPage> {
    return Promise.resolve({ versions: [VERSION], next: undefined });
  }

  get(subject: string, version: number): Promise<DescriptorView> {
    if (version !== 1) return Promise.reject(new StreamsError("DESCRIPTOR_NOT_FOUND", `${subject} has no ${version}`));
    return Promise.resolve({ ...VERSION, files: { "a.proto": "message M {}" } });
  }

  remove(_subject: string, _version: number, { actor, reason }: Order): Promise<DescriptorVersionView> {
    return Promise.resolve({ ...VERSION, removed: { actor, reason, at: 0 } });
  }

  activate(_source: string, _activation: Activation): Promise<DefinitionView> {
    return Promise.resolve(this.#definition());
  }

  ledger(): Promise<LedgerPage> {
    const descriptor = { subject: "ysearch.article", version: 1, message: "t.M" };
    const row = { partition: 0, number: 1, from: 0, until: undefined, revision: 2, descriptor, digest: "cd" };
    return Promise.resolve({ rows: [row], jobs: [], next: undefined });
  }

  unknownFields(): readonly UnknownFieldsView[] {
    return [{ revision: 2, descriptorVersion: 1, fields: [{ path: "3.7", count: 4 }] }];
  }
}
