/**
 * The inputs of one record where they stand: no object per record or per input. An input is named by its index in the
 * kind's list. Valid until the next record is read.
 */
export interface InputView {
  /** What {@link start} and {@link end} are places in. */
  readonly bytes: Uint8Array;
  /** Whether the record has it; a field that knows no presence and is at its default counts as absent. */
  has(input: number): boolean;
  /** Where a text begins and ends; both 0 when it is absent. */
  start(input: number): number;
  end(input: number): number;
  /** A number, an enum's number, or a time in milliseconds since 1970; 0 when it is absent. */
  number(input: number): number;
  /** The halves of an integer's 64 bits as uint32, in two's complement; 0 when it is absent. */
  high(input: number): number;
  low(input: number): number;
  /** Whether an integer is below 0. */
  negative(input: number): boolean;
}

/**
 * What a record adds to. Its keys are written piece by piece into one buffer, and hashed on the way: a kind that counts a
 * record several times writes what its keys share once, marks that place, and goes back to it.
 */
export interface Increments {
  /** Begins a key with bytes that all keys of the kind begin with. */
  open(prefix: KeyPrefix): void;
  /** Appends text with its length before it, so that no two keys look alike. At most 65,535 bytes. */
  part(bytes: Uint8Array, start: number, end: number): void;
  /** Appends one byte. */
  byte(value: number): void;
  /** Appends a moment in milliseconds, so that keys sort by it. */
  moment(ms: number): void;
  /** Remembers how far the key is written. */
  mark(): void;
  /** Goes back to where {@link mark} was. */
  rewind(): void;
  /** Ends the key: what is added from now on goes to this counter. `family` is an index into the kind's families. */
  select(family: number): void;
  /** Adds to a value of the counter: an integer from 0 to 2^32. */
  add(value: number, amount: number): void;
  /** Adds an integer from 0 to 2^64 − 1, given by its halves; only in wide families. */
  addWide(value: number, high: number, low: number): void;
  /** Adds a visitor by the halves of his hash; only in families with visitors. */
  visitor(high: number, low: number): void;
}

/** Bytes that keys begin with, and their hash so far. Made by `keyPrefix`. */
export interface KeyPrefix {
  readonly bytes: Uint8Array;
  readonly hash: number;
}

/** What the counters of one family hold. */
export interface CounterFamily {
  readonly name: string;
  /** How many values; what each means is the kind's. */
  readonly values: number;
  /** Whether a record may add more than 2^32 to one. */
  readonly wide: boolean;
  readonly visitors: boolean;
}
