import { Environment } from "../../../src/kv/embedded/environment.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { type CellWrite, KvFault, type OwnerStatus } from "../../../src/ports/kv-plane.ts";
import { MIB, text } from "./support.ts";

export interface LoadOptions {
  readonly keys: number;
  /** Cells of one write, and bytes of a cell. */
  readonly batch: number;
  readonly bytes: number;
  /** Writes under way at a time. */
  readonly writers?: number;
}

/** How long whoever was refused waits before he tries again. */
const RETRY_MS = 5;
const READ_KEYS = 20;

/**
 * Writers that remember every acknowledgement, and a reader that checks what they may rely on: nothing acknowledged is
 * missing, no read goes back, and nothing is read that was never written.
 */
export class Load {
  readonly #plane: () => EmbeddedPlane;
  readonly #options: LoadOptions;
  /** Per key, the order that was acknowledged, or read. */
  readonly #least: number[];
  #order = 0;
  #stopped = false;
  #ends: Promise<unknown>[] = [];
  /** Writes that were acknowledged. */
  writes = 0;
  reads = 0;
  /** Calls that were refused. */
  refused = 0;
  /** What must not be. */
  readonly wrong: string[] = [];

  constructor(plane: () => EmbeddedPlane, options: LoadOptions) {
    this.#plane = plane;
    this.#options = options;
    this.#least = Array.from({ length: options.keys }, () => 0);
  }

  start(): void {
    this.#stopped = false;
    const { writers = 2 } = this.#options;
    this.#ends = [...Array.from({ length: writers }, () => this.#write()), this.#read()];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#ends);
  }

  /** Waits until `count` more writes are acknowledged. */
  async passes(count: number): Promise<void> {
    await this.reaches(this.writes + count);
  }

  /** Waits until `count` writes are acknowledged altogether. */
  async reaches(count: number): Promise<void> {
    while (this.writes < count) await later(2);
  }

  /** Reads everything once. */
  async verify(): Promise<void> {
    for (let from = 0; from < this.#options.keys; from += 1_000) {
      const to = Math.min(from + 1_000, this.#options.keys);
      await this.#check(Array.from({ length: to - from }, (_, index) => from + index));
    }
  }

  async #write(): Promise<void> {
    const { keys, batch } = this.#options;
    while (!this.#stopped) {
      this.#order += 1;
      const order = this.#order;
      const picked = Array.from({ length: batch }, () => Math.floor(Math.random() * keys));
      const cells = picked.map((key) => this.#cell(key, order));
      // The same batch again until it is taken, as a partition runner does.
      while (!(await this.#try(() => this.#plane().write(cells)))) if (this.#stopped) return;
      for (const key of picked) this.#least[key] = Math.max(this.#least[key] ?? 0, order);
      this.writes += 1;
    }
  }

  async #read(): Promise<void> {
    const { keys } = this.#options;
    while (!this.#stopped) {
      const picked = Array.from({ length: READ_KEYS }, () => Math.floor(Math.random() * keys));
      if (await this.#try(() => this.#check(picked))) this.reads += 1;
      await later(1);
    }
  }

  async #check(picked: readonly number[]): Promise<void> {
    const least = picked.map((key) => this.#least[key] ?? 0);
    const cells = await this.#plane().restore(picked.map((key) => this.#cell(key, 0)));
    for (const [index, key] of picked.entries()) {
      const cell = cells[index];
      const order = cell?.order ?? 0;
      const floor = least[index] ?? 0;
      if (order < floor) this.wrong.push(`key ${key} is at ${order} after ${floor}`);
      const sound = cell === undefined || Buffer.compare(cell.bytes, this.#cell(key, order).bytes) === 0;
      if (!sound) this.wrong.push(`key ${key} at ${order} has foreign bytes`);
      this.#least[key] = Math.max(this.#least[key] ?? 0, order);
    }
  }

  async #try(task: () => Promise<unknown>): Promise<boolean> {
    try {
      await task();
      return true;
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
      this.refused += 1;
      await later(RETRY_MS);
      return false;
    }
  }

  #cell(key: number, order: number): CellWrite {
    const bytes = new Uint8Array(Buffer.alloc(this.#options.bytes, `${key}:${order};`));
    return { space: "document", key: text(`key-${key}`), order, bytes };
  }
}

/** Waits. */
export function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What `plane` says of an owner. */
export function ownerOf(plane: EmbeddedPlane, name: string): OwnerStatus {
  const found = plane.owners().find(({ owner }) => owner === name);
  if (found === undefined) throw new Error(`no owner ${name}`);
  return found;
}

/** The reason of an owner that is not up, its state when it is. */
export function reasonOf(plane: EmbeddedPlane, name: string): string {
  const { state, reason } = ownerOf(plane, name);
  return reason?.code ?? state;
}

/** SHA-256 of everything but the identity that the store of a closed plane holds, span by span. */
export async function digestOf(directory: string): Promise<readonly string[]> {
  const environment = new Environment(directory, 64 * MIB);
  try {
    const hashes: string[] = [];
    let after: string | undefined;
    for (;;) {
      const { hash, last, complete, cells } = environment.digest({ after, upTo: undefined, bytes: MIB });
      hashes.push(`${cells} ${hash}`);
      if (complete || last === undefined) return hashes;
      after = last;
    }
  } finally {
    await environment.close();
  }
}
