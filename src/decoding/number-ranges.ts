/** Ranges of numbers that do not overlap, looked up by halving: a file may have thousands of them. */
export class NumberRanges {
  readonly #sorted: readonly (readonly [first: number, last: number])[];

  constructor(ranges: readonly (readonly [first: number, last: number])[]) {
    this.#sorted = ranges.toSorted(([a], [b]) => a - b);
  }

  /** Whether one of the ranges has the number. */
  has(number: number): boolean {
    return this.lastOf(number) !== undefined;
  }

  /** The last number of the range that has the number. */
  lastOf(number: number): number | undefined {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [first, last] = this.#sorted[middle] ?? [0, 0];
      if (number < first) high = middle;
      else if (number > last) low = middle + 1;
      else return last;
    }
    return undefined;
  }
}

/** The same numbers in as few ranges as can be, in order. */
export function mergedRanges(
  ranges: readonly (readonly [first: number, last: number])[],
): readonly (readonly [first: number, last: number])[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const open = merged.at(-1);
    if (open !== undefined && first <= open[1] + 1) open[1] = Math.max(open[1], last);
    else merged.push([first, last]);
  }
  return merged;
}
