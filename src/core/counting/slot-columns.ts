import type { Offset } from "../offset.ts";
import { ByteTable } from "./byte-table.ts";
import { CellArena } from "./cell-arena.ts";

/** Its slot is held elsewhere now. */
const MOVED = -1;

/**
 * Slots by key, each with its cell as it was written last: in columns and without an object for any of them, about a hundred
 * bytes a slot. Entries are added and never taken out; they are numbered from 0 on.
 */
export class SlotColumns {
  readonly keys = new ByteTable();
  readonly #cells = new CellArena();
  #offsets = new Float64Array(8);
  #writers = new Float64Array(8);
  #starts = new Float64Array(8);
  #lengths = new Uint32Array(8);

  /** How many there are, moved ones included. */
  get size(): number {
    return this.keys.size;
  }

  /** Memory that they take, in bytes: of what has grown, only what was ever written to. */
  get byteLength(): number {
    return this.keys.byteLength + this.#cells.byteLength + this.size * COLUMN_BYTES;
  }

  /** Adds a slot whose key was not found: its cell, the offset up to which it counts, and the batch that writes it, or 0. */
  add(key: Uint8Array, length: number, hash: number, cell: Uint8Array, offset: Offset, writer: number): void {
    const entry = this.keys.add(key, length, hash);
    if (entry === this.#lengths.length) this.#grow();
    this.#starts[entry] = this.#cells.put(cell);
    this.#lengths[entry] = cell.length;
    this.#offsets[entry] = offset;
    this.#writers[entry] = writer;
  }

  /** Puts the slot's new cell in the stead of the one before. */
  replace(entry: number, cell: Uint8Array, offset: Offset, writer: number): void {
    this.#starts[entry] = this.#cells.replace(this.start(entry), this.#lengths[entry] ?? 0, cell);
    this.#lengths[entry] = cell.length;
    this.#offsets[entry] = offset;
    this.#writers[entry] = writer;
  }

  /** The slot is held elsewhere from now on. */
  move(entry: number): void {
    this.#starts[entry] = MOVED;
  }

  /** Whether it is held elsewhere. */
  moved(entry: number): boolean {
    return this.#starts[entry] === MOVED;
  }

  offset(entry: number): Offset {
    return this.#offsets[entry] ?? -1;
  }

  /** The batch that wrote it last; 0 for none. */
  writer(entry: number): number {
    return this.#writers[entry] ?? 0;
  }

  /** What cells are places in: holds until the next one is added or replaced. */
  get bytes(): Uint8Array {
    return this.#cells.bytes;
  }

  /** Where its cell begins. */
  start(entry: number): number {
    return this.#starts[entry] ?? 0;
  }

  /** Where it ends. */
  end(entry: number): number {
    return this.start(entry) + (this.#lengths[entry] ?? 0);
  }

  #grow(): void {
    const room = 2 * this.#lengths.length;
    this.#offsets = grown(this.#offsets, new Float64Array(room));
    this.#writers = grown(this.#writers, new Float64Array(room));
    this.#starts = grown(this.#starts, new Float64Array(room));
    this.#lengths = grown(this.#lengths, new Uint32Array(room));
  }
}

const COLUMN_BYTES = 3 * Float64Array.BYTES_PER_ELEMENT + Uint32Array.BYTES_PER_ELEMENT;

function grown<Column extends Float64Array | Uint32Array>(old: Column, column: Column): Column {
  column.set(old);
  return column;
}
