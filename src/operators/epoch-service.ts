import { bindingRecord } from "../control/binding-record.ts";
import { BindingRecord, StartRecordSchema, StopRecord, recordNames } from "../control/records.ts";
import { readRecord, replaceRecord, type Stored } from "../control/json-record.ts";
import { copyKey } from "../core/keys.ts";
import { decodeCopy } from "../core/partition/copy.ts";
import type { KindName } from "../core/source.ts";
import { type Binding, type Identity, logOf, topicEpochOf } from "../core/topic/binding.ts";
import { type EpochDecision, type EpochPartition, type Opener, decideEpoch } from "../core/topic/epoch.ts";
import { StreamsError } from "../errors.ts";
import { enterOpening } from "../fleet/entering.ts";
import type { SourceService } from "../fleet/source-service.ts";
import { KvFault } from "../ports/kv-plane.ts";
import type { EpochCommands, EpochView, Order } from "../ports/operators.ts";
import { type BoundsAnswer, SourceFault } from "../ports/record-source.ts";
import { serviceOf } from "./operator-state.ts";
import type { OperatorParts } from "./pause-service.ts";

/** Kinds that count: whether the rows of a log that is given up stay in the sums is the operator's decision. */
const COUNTING: readonly KindName[] = ["traffic", "ad_actions"];

/** Producers are taken for quiet when no log of an old partition grew over this time. */
const QUIET_MS = 1_000;

/**
 * Opens topic epochs. The binding is the one record that decides: stops, start records, ledgers and copies belong to a log
 * by their names, so that those of the log before are void with this one write, and no crash leaves half of it.
 */
export class EpochService implements EpochCommands {
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  async open(source: string, order: Order, counting: "continues" | "replaces" | undefined): Promise<EpochView> {
    const service = await serviceOf(this.#parts.fleet, { source });
    const detail = counting === undefined ? "" : `counting ${counting}`;
    const call = { ...order, action: "open-epoch", source, partition: null, detail } as const;
    const view = await this.#parts.audit.around(call, (audit) => this.#open(service, { ...order, audit }, counting));
    await service.obey();
    return view;
  }

  async #open(
    service: SourceService,
    order: Order & { readonly audit: string },
    counting: "continues" | "replaces" | undefined,
  ): Promise<EpochView> {
    const { control, clock } = this.#parts;
    const { name } = service;
    if (counting !== undefined && !COUNTING.includes(service.parts.inForce.definition.kind)) {
      throw new StreamsError("COUNTING_NOT_APPLICABLE", `${name} is of kind ${service.parts.inForce.definition.kind}`);
    }
    const bound = await readRecord(control, recordNames.binding(name), BindingRecord);
    if (bound === undefined) throw new StreamsError("EPOCH_NOT_NEEDED", `${name} has never been read`);
    const opener: Opener = { ...order, at: clock.now(), ...(counting === undefined ? {} : { counting }) };
    const decision = await this.#decide(service, bound.value, opener);
    if (decision.decision !== "open") throw refusalOf(decision);
    await this.#write(name, bound, decision.binding);
    await this.#enter(service, decision.binding);
    const partitions = decision.binding.epochs.at(-1)?.partitions ?? 0;
    return { source: name, topicEpoch: decision.epoch, partitions, audit: order.audit };
  }

  /** After a growth the old partitions are looked at twice: one whose end moves has producers that are not quiet. */
  async #decide(service: SourceService, binding: Binding, opener: Opener): Promise<EpochDecision> {
    const { source } = service.parts;
    const identity = await source.identity();
    const first = decideEpoch(binding, identity, await this.#partitions(service, binding, identity), opener);
    if (first.decision !== "open" || first.binding.goOnAt === undefined) return first;
    await new Promise<void>((resolve) => {
      this.#parts.clock.after(QUIET_MS, resolve);
    });
    return decideEpoch(binding, await source.identity(), await this.#partitions(service, binding, identity), opener);
  }

  async #partitions(service: SourceService, binding: Binding, identity: Identity): Promise<readonly EpochPartition[]> {
    const bounds = await service.parts.source.bounds();
    const known = Math.max(binding.epochs.at(-1)?.partitions ?? 0, identity.partitions);
    const numbers = Array.from({ length: known }, (_unused, partition) => partition);
    return Promise.all(numbers.map((partition) => this.#partition(service, binding, partition, bounds.get(partition))));
  }

  async #partition(
    service: SourceService,
    binding: Binding,
    partition: number,
    answer: BoundsAnswer | undefined,
  ): Promise<EpochPartition> {
    // A partition that the topic no longer has holds nothing.
    const bounds = answer ?? { known: true, logStart: 0, end: 0 };
    if (!bounds.known) throw new SourceFault(bounds.cause, `partition ${partition}: ${bounds.text}`);
    const { control } = this.#parts;
    const topicEpoch = topicEpochOf(binding, partition) ?? 0;
    const key = copyKey(service.name, topicEpoch, partition);
    const [cell] = await service.parts.plane.restore([{ space: "copy", key }]);
    const copy = cell === undefined ? undefined : decodeCopy(cell.bytes);
    const record = await readRecord(control, recordNames.stop(service.name, partition, logOf(binding)), StopRecord);
    const started = await readRecord(
      control,
      recordNames.start(service.name, partition, logOf(binding)),
      StartRecordSchema,
    );
    const startsAt = (record?.value.resumed?.start ?? started?.value)?.from;
    const stands = record !== undefined && (copy?.watermark ?? 0) <= record.value.reach;
    const stop = stands ? (record.value.stop ?? undefined) : undefined;
    return { partition, stop, copy, startsAt, bounds: { logStart: bounds.logStart, end: bounds.end } };
  }

  async #write(name: string, bound: Stored<BindingRecord>, binding: Binding): Promise<void> {
    const { control } = this.#parts;
    const value = bindingRecord(binding);
    if (await replaceRecord(control, recordNames.binding(name), BindingRecord, bound.tag, value)) return;
    throw new StreamsError("PRECONDITION_FAILED", "the source was bound anew meanwhile; look at it and repeat");
  }

  /** The epoch is open already: what cannot be entered now is entered before anything of the new log is read. */
  async #enter(service: SourceService, binding: Binding): Promise<void> {
    try {
      await enterOpening(service.parts, service.name, binding);
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
      service.parts.errors.note({ code: error.code, text: error.message });
    }
  }
}

function refusalOf(decision: Exclude<EpochDecision, { decision: "open" }>): StreamsError {
  if (decision.decision === "not-needed")
    return new StreamsError("EPOCH_NOT_NEEDED", "nothing says that the log is another one");
  if (decision.decision === "exhausted") return new StreamsError("EPOCH_EXHAUSTED", "the last topic epoch is in use");
  const behind = decision.behind.map(({ partition, applied, end, resumeFrom }) => ({
    partition,
    ...(applied === undefined ? {} : { applied: String(applied) }),
    end: String(end),
    resumeFrom: String(resumeFrom),
  }));
  const text = `partitions ${behind.map(({ partition }) => partition).join(", ")} hold records that are not applied`;
  return new StreamsError("EPOCH_NOT_READ", text, { behind });
}
