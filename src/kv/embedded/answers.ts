import { invariant } from "../../core/invariant.ts";

/**
 * Answers of an owner to a read, packed: per address, in order, uint32 length + 1 and the stored value; 0 is absent.
 */

const LENGTH_BYTES = 4;
const FIRST_CAPACITY = 64 * 1024;

/** Collects answers in one growing buffer. */
export class AnswerWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #length = 0;

  /** Bytes collected. */
  get length(): number {
    return this.#length;
  }

  /** Appends the first `size` bytes of `value`, or an absence. */
  add(value: Buffer | undefined, size: number): void {
    this.#reserve(LENGTH_BYTES + size);
    this.#buffer.writeUInt32BE(value === undefined ? 0 : size + 1, this.#length);
    this.#length += LENGTH_BYTES;
    if (value === undefined) return;
    // A slice first: lmdb's buffers are larger than the `length` they show, and copying trusts that.
    this.#buffer.set(value.subarray(0, size), this.#length);
    this.#length += size;
  }

  /** What was collected. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Answers to so many addresses. */
export interface PackedAnswers {
  readonly count: number;
  readonly packed: Buffer;
}

/** Whether two owners answered the same, and cut it alike. */
export function sameAnswers(a: readonly PackedAnswers[], b: readonly PackedAnswers[]): boolean {
  return a.length === b.length && a.every(({ packed }, index) => b[index]?.packed.equals(packed) === true);
}

/** The stored values of all answers, in order; undefined is absent. */
export function storedValues(answers: readonly PackedAnswers[]): readonly (Buffer | undefined)[] {
  return answers.flatMap(({ count, packed }) => splitAnswers(packed, count));
}

/** Splits packed answers, which {@link requireAnswers} let pass, into stored values, as slices. */
export function splitAnswers(bytes: Buffer, count: number): (Buffer | undefined)[] {
  const answers: (Buffer | undefined)[] = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    const mark = bytes.readUInt32BE(at);
    at += LENGTH_BYTES;
    answers.push(mark === 0 ? undefined : bytes.subarray(at, at + mark - 1));
    at += Math.max(0, mark - 1);
  }
  return answers;
}

/** @throws InvariantViolation unless there are exactly `count` answers */
export function requireAnswers({ count, packed }: PackedAnswers): void {
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    invariant(at + LENGTH_BYTES <= packed.length, "KV_WIRE", "answers are missing");
    at += LENGTH_BYTES + Math.max(0, packed.readUInt32BE(at) - 1);
  }
  invariant(count > 0 && at === packed.length, "KV_WIRE", "answers do not end where they should");
}
