import type { Offset } from "../core/offset.ts";
import { originOf, versionOf } from "../core/version.ts";
import type { StoredLetter } from "../ports/letters.ts";

/** The standing letter of one origin: its attempt, and where it lies in the dead-letter topic. */
export interface Standing {
  readonly partition: number;
  readonly topicEpoch: number;
  readonly offset: Offset;
  readonly attempt: number;
  readonly place: StoredLetter["place"];
}

/** Slots that a table begins with; it doubles whenever two thirds are taken. */
const FIRST_SLOTS = 1_024;
const KNUTH = 0x9e37_79b1;

/**
 * Which letter stands for each origin, whatever duplicates the topic holds (a crash, a zombie, a job): the one with the highest
 * attempt, the last of equals. 32 bytes a slot, so that a topic of many letters can be gone through in bounded memory.
 */
export class OriginTable {
  readonly #max: number;
  #slots = FIRST_SLOTS;
  #size = 0;
  /** Versions: topic epoch and offset; 0 is a free slot. */
  #versions = new Float64Array(FIRST_SLOTS);
  #partitions = new Uint32Array(FIRST_SLOTS);
  #attempts = new Uint32Array(FIRST_SLOTS);
  #placePartitions = new Uint32Array(FIRST_SLOTS);
  #placeOffsets = new Float64Array(FIRST_SLOTS);

  /** @param max origins at most */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** Notes a letter. Letters of one partition of the topic come in its order. False: the table is full. */
  note({
    topicEpoch,
    offset,
    partition,
    attempt,
    place,
  }: Omit<Standing, "place"> & Pick<StoredLetter, "place">): boolean {
    const version = versionOf({ topicEpoch, offset });
    let slot = this.#find(version, partition);
    if (this.#versions[slot] === 0) {
      if (this.#size === this.#max) return false;
      if ((this.#size + 1) * 3 > this.#slots * 2) {
        this.#grow();
        slot = this.#find(version, partition);
      }
      this.#size += 1;
    } else if ((this.#attempts[slot] ?? 0) > attempt) return true;
    this.#put(slot, version, partition, attempt, place.partition, place.offset);
    return true;
  }

  /** Whether this very letter is the one that stands. */
  stands({
    topicEpoch,
    offset,
    partition,
    place,
  }: Pick<StoredLetter, "topicEpoch" | "offset" | "partition" | "place">) {
    const slot = this.#find(versionOf({ topicEpoch, offset }), partition);
    if (this.#versions[slot] === 0) return false;
    return this.#placePartitions[slot] === place.partition && this.#placeOffsets[slot] === place.offset;
  }

  /** All that stand, in no order. */
  *entries(): Generator<Standing> {
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const version = this.#versions[slot] ?? 0;
      if (version === 0) continue;
      yield {
        partition: this.#partitions[slot] ?? 0,
        ...originOf(version),
        attempt: this.#attempts[slot] ?? 0,
        place: { partition: this.#placePartitions[slot] ?? 0, offset: this.#placeOffsets[slot] ?? 0 },
      };
    }
  }

  #find(version: number, partition: number): number {
    const mask = this.#slots - 1;
    const low = Math.imul((version % 2 ** 32) ^ Math.imul(partition + 1, 0x85eb_ca6b), KNUTH);
    let slot = (low ^ (low >>> 15) ^ Math.floor(version / 2 ** 32)) & mask;
    while (this.#versions[slot] !== 0 && (this.#versions[slot] !== version || this.#partitions[slot] !== partition)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #put(slot: number, version: number, partition: number, attempt: number, placePartition: number, placeOffset: Offset) {
    this.#versions[slot] = version;
    this.#partitions[slot] = partition;
    this.#attempts[slot] = attempt;
    this.#placePartitions[slot] = placePartition;
    this.#placeOffsets[slot] = placeOffset;
  }

  #grow(): void {
    const before = [...this.entries()];
    this.#slots *= 2;
    this.#versions = new Float64Array(this.#slots);
    this.#partitions = new Uint32Array(this.#slots);
    this.#attempts = new Uint32Array(this.#slots);
    this.#placePartitions = new Uint32Array(this.#slots);
    this.#placeOffsets = new Float64Array(this.#slots);
    for (const { partition, topicEpoch, offset, attempt, place } of before) {
      const version = versionOf({ topicEpoch, offset });
      this.#put(this.#find(version, partition), version, partition, attempt, place.partition, place.offset);
    }
  }
}
