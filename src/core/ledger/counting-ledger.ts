import { invariant } from "../invariant.ts";
import type { Offset } from "../offset.ts";

/** A row of a counting ledger: which offsets `[from, until)` are counted into its slots, under which revision. */
export interface CountingRow {
  readonly number: number;
  readonly from: Offset;
  /** Of the last row, which is open: the reservation. Nobody has decoded at or above it. */
  readonly until: Offset;
  readonly revision: number;
  /** When it was opened, by the clock of whoever did. Decides where rows end, never what a record counts. */
  readonly openedAtMs: number;
}

/** A row that a recount replaced: its slots are summed no more. */
export interface FormerRow extends CountingRow {
  readonly replacedBy: number;
}

/** Who reserves in the open row. */
export interface Holder {
  /** Of one life of one runner: no two lives share it. */
  readonly name: string;
  /** `until` as this holder found it: what others may have decoded, it cannot give back. */
  readonly floor: Offset;
}

/** The ledger of one source and partition of a counting kind. Numbers are never reused. */
export interface CountingLedger {
  /** By `from`, without overlap; gaps are what an operator passed over. Only the last is open. */
  readonly rows: readonly CountingRow[];
  readonly nextNumber: number;
  /** Numbers of the rows whose slots readers sum. */
  readonly listed: readonly number[];
  readonly former: readonly FormerRow[];
  /** Undefined before the first start. */
  readonly holder: Holder | undefined;
}

/** The ledger of a partition that was never read. */
export const EMPTY_COUNTING_LEDGER: CountingLedger = {
  rows: [],
  nextNumber: 1,
  listed: [],
  former: [],
  holder: undefined,
};

/** What a runner knows when it starts. */
export interface Entrance {
  readonly name: string;
  readonly position: Offset;
  /** The revision in force. */
  readonly revision: number;
  readonly nowMs: number;
}

/**
 * At each start, before the first fetch: writes the runner's name and its floor. A first start opens the first row; one above
 * the reservation, where an operator passed something over, closes the open row and opens the next at the position.
 *
 * A start below the first row, or where an operator passed something over, is refused: what it would read is in no row, and
 * is counted whole, beside live reading, by a replay of `[from, until)`.
 */
export function enter(ledger: CountingLedger, entrance: Entrance): CountingLedger | UncoveredStart {
  const { name, position } = entrance;
  const last = ledger.rows.at(-1);
  if (last === undefined) return open(ledger, position, entrance);
  if (position > last.until) return open(withoutEmpty(ledger), position, entrance);
  const next = ledger.rows.find((row) => row.from > position);
  if (next !== undefined && countingRowAt(ledger, position) === undefined) return { from: position, until: next.from };
  return named(ledger, name);
}

/** What a start would read that no row covers. */
export interface UncoveredStart {
  readonly from: Offset;
  readonly until: Offset;
}

/** What a reservation is made from. */
export interface Reservation {
  readonly name: string;
  /** One past what was fetched. */
  readonly next: Offset;
  /** End of the log as the fetch saw it: what lies beyond does not exist yet. */
  readonly end: Offset;
  /** How many offsets to reserve beyond what was fetched, so that not every batch needs a write. */
  readonly ahead: Offset;
  /** The desired revision. */
  readonly revision: number;
  readonly nowMs: number;
  /** How long a row lasts. */
  readonly segmentEveryMs: number;
}

/** Whether a runner must reserve before it decodes up to `next`. Whoever finds another name writes its own first. */
export function mustReserve(ledger: CountingLedger, name: string, next: Offset): boolean {
  return ledger.holder?.name !== name || next > openRow(ledger).until;
}

/**
 * Moves the open row's `until` past what was fetched and never past the end of the log. Before that the row is closed, where
 * a newer revision is desired or it has lasted long enough, and the next opened at its `until`: nobody has read past it under
 * the old one. Returns the same object when there is nothing to change.
 *
 * To be stored by compare-and-set on what was read; only when that took may anything be decoded.
 */
export function reserve(ledger: CountingLedger, reservation: Reservation): CountingLedger {
  const { name, next, end, ahead } = reservation;
  const own = named(ledger, name);
  if (next <= openRow(own).until) return own;
  const turned = turnOver(own, reservation);
  const until = Math.max(next, Math.min(next + ahead, end));
  return withLast(turned, { ...openRow(turned), until });
}

/**
 * On stop, pause or drain: lowers the reservation to `sent`, one past the last offset that the runner has ever sent a write
 * for, abandoned batches included, and never below its floor. Nothing happens where another name stands.
 *
 * The runner decodes nothing from before it reads the ledger for this until it has reserved again, on what was stored.
 */
export function giveBack(ledger: CountingLedger, name: string, sent: Offset): CountingLedger {
  const { holder } = ledger;
  if (holder?.name !== name) return ledger;
  const last = openRow(ledger);
  const until = Math.max(last.from, holder.floor, Math.min(last.until, sent));
  return until === last.until ? ledger : withLast(ledger, { ...last, until });
}

/**
 * Closes the open row at its reservation and opens the next one there, for a recount that wants to take it. Under the same
 * revision: which one is in force is for the next reservation to see. An empty row stays open.
 */
export function closeOpenRow(ledger: CountingLedger, nowMs: number): CountingLedger {
  const last = openRow(ledger);
  if (last.from === last.until) return ledger;
  const { holder } = ledger;
  const opened = open(ledger, last.until, { name: "", position: last.until, revision: last.revision, nowMs });
  return { ...opened, holder: holder && { ...holder, floor: last.until } };
}

/** The row that covers an offset; undefined where none does. Reservations included. */
export function countingRowAt(ledger: CountingLedger, offset: Offset): CountingRow | undefined {
  return ledger.rows.findLast((row) => row.from <= offset && offset < row.until);
}

function turnOver(ledger: CountingLedger, reservation: Reservation): CountingLedger {
  const { name, revision, nowMs, segmentEveryMs } = reservation;
  const last = openRow(ledger);
  // Revisions only grow: an old one comes from a life that was slow to notice its successor, and changes nothing.
  const changed = revision > last.revision;
  if (!changed && nowMs - last.openedAtMs < segmentEveryMs) return ledger;
  if (last.from === last.until && !changed) return withLast(ledger, { ...last, openedAtMs: nowMs });
  const entrance = { name, position: last.until, revision: Math.max(revision, last.revision), nowMs };
  return open(withoutEmpty(ledger), last.until, entrance);
}

/** Nobody has decoded anything in an empty row: it goes, and its number with it. */
function withoutEmpty(ledger: CountingLedger): CountingLedger {
  const last = openRow(ledger);
  if (last.from < last.until) return ledger;
  const listed = ledger.listed.filter((number) => number !== last.number);
  return { ...ledger, rows: ledger.rows.slice(0, -1), listed };
}

function open(ledger: CountingLedger, from: Offset, { name, revision, nowMs }: Entrance): CountingLedger {
  const number = ledger.nextNumber;
  return {
    ...ledger,
    rows: [...ledger.rows, { number, from, until: from, revision, openedAtMs: nowMs }],
    nextNumber: number + 1,
    listed: [...ledger.listed, number],
    holder: { name, floor: from },
  };
}

function named(ledger: CountingLedger, name: string): CountingLedger {
  if (ledger.holder?.name === name) return ledger;
  return { ...ledger, holder: { name, floor: openRow(ledger).until } };
}

function withLast(ledger: CountingLedger, row: CountingRow): CountingLedger {
  return { ...ledger, rows: [...ledger.rows.slice(0, -1), row] };
}

/** @throws InvariantViolation before the first start */
function openRow(ledger: CountingLedger): CountingRow {
  const last = ledger.rows.at(-1);
  invariant(last !== undefined, "LEDGER_EMPTY", "nobody has entered the partition yet");
  return last;
}
