import type { UnknownFieldCounts } from "../ports/decoder.ts";

/** Paths beyond the limit are counted together under this name. */
export const OTHER_PATHS = "*";

interface CountNode {
  count: number;
  readonly children: Map<number, CountNode>;
}

/** Unknown fields of one record that are held until it decodes: numbers, each path ended by 0. */
const PENDING_NUMBERS = 1_024;

/**
 * Counts unknown fields by path, without making a string per field. A record's fields count once it has decoded, so that
 * garbage cannot use up the bounded paths.
 */
export class UnknownFields {
  readonly #maxPaths: number;
  readonly #root: CountNode = { count: 0, children: new Map() };
  readonly #pending = new Int32Array(PENDING_NUMBERS);
  readonly #stack: Int32Array;
  #pendingLength = 0;
  #pendingOther = 0;
  #paths = 0;
  #other = 0;

  /** `maxDepth` bounds the length of a path, `maxPaths` how many are told apart. */
  constructor(maxDepth: number, maxPaths: number) {
    this.#stack = new Int32Array(maxDepth + 2);
    this.#maxPaths = maxPaths;
  }

  begin(): void {
    this.#pendingLength = 0;
    this.#pendingOther = 0;
  }

  /** Notes that the message at `depth` is the value of field `number`. The record's message is at 0. */
  enter(depth: number, number: number): void {
    this.#stack[depth] = number;
  }

  /** Notes an unknown field in the message at `depth`. */
  add(depth: number, number: number): void {
    if (this.#pendingLength + depth + 2 > PENDING_NUMBERS) {
      this.#pendingOther += 1;
      return;
    }
    for (let level = 1; level <= depth; level += 1) {
      this.#pending[this.#pendingLength++] = this.#stack[level] ?? 0;
    }
    this.#pending[this.#pendingLength++] = number;
    this.#pending[this.#pendingLength++] = 0;
  }

  /** Counts what was noted since {@link begin}. */
  commit(): void {
    this.#other += this.#pendingOther;
    let node: CountNode | undefined = this.#root;
    for (let index = 0; index < this.#pendingLength; index += 1) {
      const number = this.#pending[index] ?? 0;
      if (number !== 0) node = node === undefined ? undefined : this.#child(node, number);
      else {
        this.#count(node);
        node = this.#root;
      }
    }
  }

  #child(node: CountNode, number: number): CountNode | undefined {
    const found = node.children.get(number);
    if (found !== undefined || this.#paths >= this.#maxPaths) return found;
    const made: CountNode = { count: 0, children: new Map() };
    node.children.set(number, made);
    return made;
  }

  #count(node: CountNode | undefined): void {
    if (node === undefined || (node.count === 0 && this.#paths >= this.#maxPaths)) {
      this.#other += 1;
      return;
    }
    if (node.count === 0) this.#paths += 1;
    node.count += 1;
  }

  counts(): UnknownFieldCounts {
    const counts = new Map<string, number>();
    collect(this.#root, "", counts);
    if (this.#other > 0) counts.set(OTHER_PATHS, this.#other);
    return counts;
  }
}

function collect(node: CountNode, path: string, into: Map<string, number>): void {
  if (node.count > 0) into.set(path, node.count);
  for (const [number, below] of node.children) collect(below, path === "" ? `${number}` : `${path}.${number}`, into);
}
