import type { Offset } from "../../../src/core/offset.ts";
import { Repeats } from "../../../src/core/repeats.ts";
import type {
  BoundsAnswer,
  CommitOutcome,
  RecordRead,
  RecordSource,
  SourceEvents,
  TopicIdentity,
  TopicRetention,
} from "../../../src/ports/record-source.ts";
import { classifyError } from "../classify-error.ts";
import type { DropReason, ResolvedSource } from "../options.ts";
import { AssignmentEpoch } from "./assignment.ts";
import { CommitWatch } from "./commit-watch.ts";
import { commitWatermarks } from "./commit.ts";
import { Probe } from "./probe.ts";
import { RecordReader } from "./record-reader.ts";
import { Supervisor, type SupervisorHost } from "./supervisor.ts";

/** How long a partition that the broker could not read is left alone. */
const PARTITION_ERROR_MS = 1_000;

/** The record source over kafkajs: the port's events on one side, a supervised consumer and a probe on the other. */
export class KafkaRecordSource implements RecordSource {
  readonly #source: ResolvedSource;
  readonly #probe: Probe;
  readonly #reader: RecordReader;
  readonly #supervisor: Supervisor;
  readonly #repeats: Repeats;
  readonly #commitWatch: CommitWatch;
  #events: SourceEvents | undefined;
  #epoch = 0;
  #current: AssignmentEpoch | undefined;

  constructor(source: ResolvedSource) {
    this.#source = source;
    this.#probe = new Probe(source);
    this.#reader = new RecordReader(source);
    this.#repeats = new Repeats();
    this.#commitWatch = new CommitWatch(source.clock, source.timings.sessionTimeoutMs);
    this.#supervisor = new Supervisor(source, this.#host());
  }

  start(events: SourceEvents): void {
    this.#events ??= events;
    this.#supervisor.start();
  }

  begin(epoch: number, partition: number, position: Offset): void {
    if (!Number.isSafeInteger(position) || position < 0) throw new RangeError(`${position} is no position`);
    this.#under(epoch)?.begin(partition, position);
  }

  pause(epoch: number, partition: number): void {
    this.#under(epoch)?.pause(partition);
  }

  resume(epoch: number, partition: number): void {
    this.#under(epoch)?.resume(partition);
  }

  async commit(epoch: number, watermarks: ReadonlyMap<number, Offset>): Promise<CommitOutcome> {
    const { topic, clock, timings } = this.#source;
    const context = { topic, clock, limitMs: timings.adminMs, current: this.#current, epoch };
    const outcome = await commitWatermarks(context, watermarks);
    const end = this.#commitWatch.note(outcome);
    if (end !== undefined) this.#supervisor.rebuild(end);
    return outcome;
  }

  async committed(): Promise<ReadonlyMap<number, Offset | undefined>> {
    return this.#probe.committed();
  }

  async bounds(): Promise<ReadonlyMap<number, BoundsAnswer>> {
    return this.#probe.bounds();
  }

  async offsetsAt(timestampMs: number): Promise<ReadonlyMap<number, Offset>> {
    return this.#probe.offsetsAt(timestampMs);
  }

  async identity(): Promise<TopicIdentity> {
    return this.#probe.identity();
  }

  async retention(): Promise<TopicRetention> {
    return this.#probe.retention();
  }

  async read(partition: number, from: Offset, maxBytes: number): Promise<RecordRead> {
    return this.#reader.read(partition, from, maxBytes);
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#revoke();
    await this.#supervisor.stop(deadlineMs);
    this.#probe.close();
    this.#reader.close();
  }

  #under(epoch: number): AssignmentEpoch | undefined {
    return this.#current?.epoch === epoch ? this.#current : undefined;
  }

  #host(): SupervisorHost {
    const { topic } = this.#source;
    return {
      joined: (memberId, partitions) => this.#safely(() => this.#joined(memberId, partitions)),
      rebalancing: () => this.#emit((events) => this.#current && events.rebalancing(this.#current.epoch)),
      attach: (group) => group.offsetManager !== null && this.#current?.attach(group.offsetManager),
      fetched: (fetched, group) => this.#safely(() => this.#current?.fetched(fetched, topic, group)),
      outOfRange: (partition, position) => this.#safely(() => this.#current?.outOfRange(partition, position)),
      partitionError: (partition, errorCode) => this.#safely(() => this.#partitionError(partition, errorCode)),
      staleBatch: () => this.#dropped("stale"),
      ended: () => this.#revoke(),
      state: (state) => this.#emit((events) => events.state(state)),
      leave: async (memberId) => this.#probe.leave(memberId),
    };
  }

  #dropped(reason: DropReason): void {
    this.#safely(() => this.#source.onDropped?.(reason));
  }

  #joined(memberId: string, partitions: readonly number[]): void {
    const { life } = this.#supervisor;
    this.#revoke();
    if (life === undefined) return;
    this.#epoch += 1;
    this.#commitWatch.reset();
    const current = new AssignmentEpoch(
      this.#epoch,
      partitions.toSorted((a, b) => a - b),
      {
        steering: life,
        sink: {
          batch: (batch) => this.#emit((events) => events.batch(batch)),
          fault: (fault) => this.#emit((events) => events.fault(fault)),
        },
        limits: this.#source.limits,
        onMispositioned: () => this.#dropped("mispositioned"),
      },
    );
    this.#current = current;
    this.#source.onMemberId?.(memberId);
    this.#supervisor.joined();
    this.#emit((events) => events.assigned({ epoch: current.epoch, partitions: current.partitions }));
  }

  /**
   * A fault of the broker's, so the partition is held: asked again after a while instead of at once, since an answer
   * with an error does not wait for data and the loop of its siblings would spin.
   */
  #partitionError(partition: number, errorCode: number): void {
    const { topic, clock, logger } = this.#source;
    const current = this.#current;
    if (current === undefined || !current.hold(partition)) return;
    const repeated = this.#repeats.note(`${errorCode}`, clock.monotonic());
    if (repeated !== undefined)
      logger.warn({ topic, partition, errorCode, repeated }, "the broker cannot read a partition");
    clock.after(PARTITION_ERROR_MS, () => this.#safely(() => current === this.#current && current.release(partition)));
  }

  #revoke(): void {
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) this.#emit((events) => events.revoked(current.epoch));
  }

  #emit(event: (events: SourceEvents) => void): void {
    const events = this.#events;
    if (events !== undefined) this.#safely(() => event(events));
  }

  /** A throw must not reach kafkajs, which would take it for its own: it is logged and the consumer is built anew. */
  #safely(action: () => void): void {
    try {
      action();
    } catch (error) {
      const { text } = classifyError(error);
      this.#source.logger.error({ topic: this.#source.topic, error: text }, "a listener of a record source threw");
      this.#supervisor.rebuild({ cause: "unknown", text: `a listener threw: ${text}` });
    }
  }
}
