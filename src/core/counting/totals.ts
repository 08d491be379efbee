import { type ByteSink, type Cursor, putNumber, putUnsigned, takeSmall, takeUnsigned } from "./varint.ts";

/** Sums of counters of any size: doubles while they hold them exactly, bigints from 2^53 on. */
export class Totals {
  /** Integers up to 2^53 − 1. */
  readonly #small: number[];
  #large: bigint[] | undefined;

  constructor(values: number) {
    this.#small = Array.from({ length: values }, () => 0);
  }

  static of(counters: readonly bigint[]): Totals {
    const totals = new Totals(counters.length);
    if (counters.every((counter) => counter <= Number.MAX_SAFE_INTEGER)) {
      for (const [value, counter] of counters.entries()) totals.#small[value] = Number(counter);
    } else totals.#large = [...counters];
    return totals;
  }

  /** How many sums there are. */
  get length(): number {
    return this.#small.length;
  }

  /** All are 0. */
  clear(): void {
    this.#small.fill(0);
    this.#large = undefined;
  }

  /** Takes over what {@link encode} wrote. @throws InvariantViolation on cut or padded bytes */
  decode(cursor: Cursor): void {
    const from = cursor.at;
    this.#large = undefined;
    for (let value = 0; value < this.#small.length; value += 1) {
      const sum = takeSmall(cursor);
      if (sum === undefined) {
        cursor.at = from;
        this.#decodeLarge(cursor);
        return;
      }
      this.#small[value] = sum;
    }
  }

  /** Adds a safe integer, 0 or more. */
  add(value: number, amount: number): void {
    const sum = (this.#small[value] ?? 0) + amount;
    if (this.#large === undefined && sum <= Number.MAX_SAFE_INTEGER) this.#small[value] = sum;
    else this.#addLarge(value, BigInt(amount));
  }

  /** Adds `high · 2^32 + low`, both safe integers, 0 or more. */
  addWide(value: number, high: number, low: number): void {
    if (high === 0) this.add(value, low);
    else this.#addLarge(value, BigInt(high) * 0x1_0000_0000n + BigInt(low));
  }

  /** All of them. */
  counters(): readonly bigint[] {
    return this.#large ?? this.#small.map(BigInt);
  }

  /** Appends each as a varint. */
  encode(target: ByteSink): void {
    if (this.#large === undefined) for (const counter of this.#small) putNumber(target, counter);
    else for (const counter of this.#large) putUnsigned(target, counter);
  }

  #decodeLarge(cursor: Cursor): void {
    const counters = this.#small.map(() => takeUnsigned(cursor));
    if (counters.some((counter) => counter > Number.MAX_SAFE_INTEGER)) this.#large = counters;
    else for (const [value, counter] of counters.entries()) this.#small[value] = Number(counter);
  }

  #addLarge(value: number, amount: bigint): void {
    this.#large ??= this.#small.map(BigInt);
    this.#large[value] = (this.#large[value] ?? 0n) + amount;
  }
}
