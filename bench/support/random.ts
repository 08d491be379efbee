/** Numbers that a seed repeats on every machine: sfc32 (Doty-Humphrey, PractRand), period at least 2^32. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = 0x9e37_79b9;
    this.#c = 0x243f_6a88;
    for (let turn = 0; turn < 16; turn += 1) this.uint32();
  }

  /** A uint32. */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** An integer from 0 up to, not including, `below`. */
  below(below: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * below);
  }
}

/** Ranks from 0 with a chance of 1 / (rank + 1): Zipf(1.0), drawn in constant time (the alias method, Walker 1977, Vose 1991). */
export class Zipf {
  readonly #chance: Float64Array;
  readonly #alias: Uint32Array;
  readonly #random: Random;

  constructor(ranks: number, random: Random) {
    this.#random = random;
    this.#chance = new Float64Array(ranks);
    this.#alias = new Uint32Array(ranks);
    let sum = 0;
    for (let rank = 0; rank < ranks; rank += 1) sum += 1 / (rank + 1);
    const small: number[] = [];
    const large: number[] = [];
    for (let rank = 0; rank < ranks; rank += 1) {
      const share = ranks / ((rank + 1) * sum);
      this.#chance[rank] = share;
      (share < 1 ? small : large).push(rank);
    }
    for (let less = small.pop(), more = large.pop(); less !== undefined && more !== undefined; less = small.pop()) {
      this.#alias[less] = more;
      const left = (this.#chance[more] ?? 0) + (this.#chance[less] ?? 0) - 1;
      this.#chance[more] = left;
      if (left >= 1) continue;
      small.push(more);
      more = large.pop();
    }
  }

  next(): number {
    const rank = this.#random.below(this.#chance.length);
    return this.#random.uint32() / 2 ** 32 < (this.#chance[rank] ?? 1) ? rank : (this.#alias[rank] ?? rank);
  }
}
