import type { Offset } from "../../../src/core/offset.ts";
import type { FetchFault } from "../../../src/ports/record-source.ts";
import type { RecordBatch } from "../../../src/ports/record-batch.ts";
import type { FetchedPartition } from "../guards/fetched-records.ts";
import type { ConsumerGroupInternals, OffsetManagerInternals } from "../guards/internals.ts";
import { decodeFetch, type DecodeLimits } from "../records/decode-fetch.ts";
import { RecordView } from "./record-view.ts";

/** What the assignment does to the consumer beneath it. None of them throws. */
export interface Steering {
  seek(partition: number, position: Offset): void;
  pause(partitions: readonly number[]): void;
  resume(partitions: readonly number[]): void;
}

/** Where the assignment's results go. */
export interface AssignmentSink {
  batch(batch: RecordBatch): void;
  fault(fault: FetchFault): void;
}

/** `waiting`: assigned, nothing decided yet. `faulted`: paused by a fault until it is begun again. */
type ReaderState = "waiting" | "reading" | "paused" | "faulted";

interface Reader {
  state: ReaderState;
  /** Not fetched for a while because the broker could not read it; beside `state`, which its owner decides. */
  held: boolean;
  /** Position that the next batch has to be fetched at. */
  expected: Offset;
}

/**
 * The partitions of one assignment epoch, and where each is being read. Nothing is fetched before {@link begin}; every
 * batch that is passed on was fetched exactly where the one before it ended.
 */
export class AssignmentEpoch {
  readonly epoch: number;
  readonly partitions: readonly number[];
  readonly #steering: Steering;
  readonly #sink: AssignmentSink;
  readonly #limits: DecodeLimits;
  readonly #onMispositioned: () => void;
  readonly #readers = new Map<number, Reader>();
  #generation: OffsetManagerInternals | undefined;

  constructor(
    epoch: number,
    partitions: readonly number[],
    parts: { steering: Steering; sink: AssignmentSink; limits: DecodeLimits; onMispositioned: () => void },
  ) {
    this.epoch = epoch;
    this.partitions = partitions;
    this.#steering = parts.steering;
    this.#sink = parts.sink;
    this.#limits = parts.limits;
    this.#onMispositioned = parts.onMispositioned;
    for (const partition of partitions) this.#readers.set(partition, { state: "waiting", held: false, expected: -1 });
    parts.steering.pause(partitions);
  }

  /** kafkajs' view of this epoch: what commits under its generation. Undefined until the first fetch loop has run. */
  get generation(): OffsetManagerInternals | undefined {
    return this.#generation;
  }

  /** Binds the generation that this epoch was opened under; later ones belong to later epochs. */
  attach(generation: OffsetManagerInternals): void {
    this.#generation ??= generation;
  }

  has(partition: number): boolean {
    return this.#readers.has(partition);
  }

  begin(partition: number, position: Offset): void {
    const reader = this.#readers.get(partition);
    if (reader === undefined) return;
    reader.state = "reading";
    reader.expected = position;
    this.#steering.seek(partition, position);
    this.#fetch(partition, reader);
  }

  pause(partition: number): void {
    const reader = this.#readers.get(partition);
    if (reader?.state !== "reading") return;
    reader.state = "paused";
    this.#steering.pause([partition]);
  }

  resume(partition: number): void {
    const reader = this.#readers.get(partition);
    if (reader?.state !== "paused") return;
    reader.state = "reading";
    this.#fetch(partition, reader);
  }

  /** Stops fetching a partition that is being read, until {@link release}. False when there is nothing to stop. */
  hold(partition: number): boolean {
    const reader = this.#readers.get(partition);
    if (reader?.state !== "reading" || reader.held) return false;
    reader.held = true;
    this.#steering.pause([partition]);
    return true;
  }

  release(partition: number): void {
    const reader = this.#readers.get(partition);
    if (reader === undefined) return;
    reader.held = false;
    if (reader.state === "reading") this.#fetch(partition, reader);
  }

  /**
   * Takes what was fetched under this epoch's generation. A batch that arrives after `pause` is left unresolved, so it
   * is fetched again at the same position after `resume`.
   */
  fetched(fetched: FetchedPartition, topic: string, group: ConsumerGroupInternals): void {
    const { partition, position } = fetched;
    const reader = this.#readers.get(partition);
    if (reader?.state !== "reading") return;
    if (position !== reader.expected) {
      this.#onMispositioned();
      this.#steering.seek(partition, reader.expected);
      return;
    }
    const decoded = decodeFetch(fetched, this.#limits);
    const { next, fault } = decoded;
    if (next > position) {
      reader.expected = next;
      group.resolveOffset({ topic, partition, offset: String(next - 1) });
      this.#sink.batch(new RecordView(this.epoch, fetched, decoded));
    }
    // The sink may have begun or paused the partition: then the fault is met again where it stands.
    if (fault !== undefined && reader.expected === next && reader.state === "reading") {
      this.#fail(partition, reader, { ...fault, position: next });
    }
  }

  outOfRange(partition: number, position: Offset): void {
    const reader = this.#readers.get(partition);
    if (reader?.state !== "reading") return;
    const at = reader.expected;
    if (position !== at) {
      // An answer to a fetch from before a seek: the partition is read from where it should be.
      this.#steering.seek(partition, at);
      this.#fetch(partition, reader);
      return;
    }
    this.#fail(partition, reader, { code: "out-of-range", text: `offset ${at} is not in the log`, position: at });
  }

  #fetch(partition: number, reader: Reader): void {
    if (!reader.held) this.#steering.resume([partition]);
  }

  #fail(partition: number, reader: Reader, fault: Pick<FetchFault, "code" | "text" | "position">): void {
    reader.state = "faulted";
    this.#steering.pause([partition]);
    this.#sink.fault({ partition, assignmentEpoch: this.epoch, ...fault });
  }
}
