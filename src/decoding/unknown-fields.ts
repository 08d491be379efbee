import type { UnknownFieldCounts } from "../ports/decoder.ts";

/** Paths beyond the limit are counted together under this name. */
export const OTHER_PATHS = "*";

/** A field number, or the name of a JSON member. */
type Step = number | string;

interface CountNode {
  count: number;
  readonly children: Map<Step, CountNode>;
}

/** Unknown fields of one record that are held until it decodes: numbers, each path ended by 0. */
const PENDING_NUMBERS = 1_024;

/** Names that are longer are counted together: they are hardly a field's. In UTF-16 units. */
const MAX_NAME = 64;

/**
 * Counts unknown fields by path of field numbers, without making a string per field. A JSON member has no number: its path
 * ends with its name as a JSON string. A record's fields count once it has decoded, so that
 * garbage cannot use up the bounded paths.
 */
export class UnknownFields {
  readonly #maxPaths: number;
  readonly #root: CountNode = { count: 0, children: new Map() };
  readonly #pending = new Int32Array(PENDING_NUMBERS);
  readonly #stack: Int32Array;
  /** Names of the record; their places stand in `#pending` as negative numbers from −1 down. */
  readonly #names: string[] = [];
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
    // Even an empty array's length is not set for nothing: this runs for every record.
    if (this.#names.length > 0) this.#names.length = 0;
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

  /** Notes an unknown JSON member in the message at `depth`. */
  addNamed(depth: number, name: string): void {
    const room = this.#pendingLength + depth + 2 <= PENDING_NUMBERS;
    if (name.length > MAX_NAME || !room) this.#pendingOther += 1;
    else this.add(depth, -this.#names.push(name));
  }

  /** Notes the field at a path from the record's message as unknown. */
  addPath(path: readonly number[]): void {
    for (const [index, number] of path.entries()) this.enter(index + 1, number);
    this.add(path.length - 1, path.at(-1) ?? 0);
  }

  /** Counts what was noted since {@link begin}. */
  commit(): void {
    this.#other += this.#pendingOther;
    let node: CountNode | undefined = this.#root;
    for (let index = 0; index < this.#pendingLength; index += 1) {
      const number = this.#pending[index] ?? 0;
      const step = number < 0 ? (this.#names[-number - 1] ?? "") : number;
      if (step !== 0) node = node === undefined ? undefined : this.#child(node, step);
      else {
        this.#count(node);
        node = this.#root;
      }
    }
  }

  #child(node: CountNode, step: Step): CountNode | undefined {
    const found = node.children.get(step);
    if (found !== undefined || this.#paths >= this.#maxPaths) return found;
    const made: CountNode = { count: 0, children: new Map() };
    node.children.set(step, made);
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
  for (const [step, below] of node.children) {
    const text = typeof step === "string" ? JSON.stringify(step) : `${step}`;
    collect(below, path === "" ? text : `${path}.${text}`, into);
  }
}
