import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { InvariantViolation } from "../core/invariant.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import { readRecord, replaceRecord, type Stored } from "./json-record.ts";

/** Entries of one page: a page is written whole at each change, so it stays small. */
export const PAGE_ENTRIES = 32;

/** More than this many lost races in a row is a bug, not contention. */
const ATTEMPTS_MAX = 50;

/** Where an entry stands: it never moves. */
export interface Place {
  readonly page: number;
  readonly index: number;
}

/** A page of entries, oldest first. */
export interface Page<T> {
  readonly page: number;
  readonly entries: readonly T[];
}

/** Spells a place, `12-3`. */
export function placeText({ page, index }: Place): string {
  return `${page}-${index}`;
}

/** Reads what {@link placeText} wrote; undefined for anything else. */
export function parsePlace(text: string): Place | undefined {
  const match = /^(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,3})$/.exec(text);
  return match === null ? undefined : { page: Number(match[1]), index: Number(match[2]) };
}

/**
 * A list that grows for ever, in control records that do not: the page that is open is the record `name`, closed pages are
 * `name/0`, `name/1` and so on. Every change is one compare-and-set of the open page, so it is durable and seen by all
 * instances when it resolves, and of two at once none is lost.
 *
 * Closing page n, with every prefix of it safe:
 *
 * 1. the record of the closed page is read, then the open page: it is full;
 * 2. the closed page is written with the open page's entries, if nobody wrote it since step 1;
 * 3. the open page becomes page n + 1, empty, if nobody changed it since step 1.
 *
 * A crash or a lost race after 2 leaves a closed page that nobody reads, because the open page still is n; the next one
 * to close it writes it again. Who is late at 2 meets another's write of the same page, and begins anew.
 */
export class PagedLog<S extends TSchema> {
  readonly #control: ControlStore;
  readonly #open;
  readonly #closed;

  /** @param entry schema of one entry */
  constructor(control: ControlStore, entry: S) {
    this.#control = control;
    this.#open = Type.Object({ page: Type.Integer({ minimum: 0 }), entries: Type.Array(entry) });
    this.#closed = Type.Object({ entries: Type.Array(entry) });
  }

  /** The page that is open; an empty one where there is no log yet. @throws KvFault */
  async openPage(name: string): Promise<Page<Static<S>>> {
    return (await this.#readOpen(name))?.value ?? { page: 0, entries: [] };
  }

  /** A page by its number; empty where there is none. @throws KvFault */
  async page(name: string, page: number): Promise<Page<Static<S>>> {
    const open = await this.openPage(name);
    if (page >= open.page) return page === open.page ? open : { page, entries: [] };
    const closed = await readRecord(this.#control, closedName(name, page), this.#closed);
    return { page, entries: closed?.value.entries ?? [] };
  }

  /**
   * Changes the entries of the open page; `change` may alter the last ones and add further ones, and returns the same
   * list when there is nothing to write. It may run several times. Returns the page as it stands then. @throws KvFault
   */
  change(name: string, change: (entries: readonly Static<S>[]) => readonly Static<S>[]): Promise<Page<Static<S>>> {
    return inTurn(this.#control, name, () => this.#change(name, change));
  }

  async #change(
    name: string,
    change: (entries: readonly Static<S>[]) => readonly Static<S>[],
  ): Promise<Page<Static<S>>> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const open = await this.#readOpen(name);
      const { page, entries } = open?.value ?? { page: 0, entries: [] };
      const changed = change(entries);
      if (changed === entries) return { page, entries };
      if (changed.length > PAGE_ENTRIES && entries.length > 0) {
        await this.#close(name, page);
        continue;
      }
      const value = { page, entries: [...changed] };
      if (await replaceRecord(this.#control, name, this.#open, open?.tag, value)) return value;
    }
    throw new InvariantViolation("CONTROL_CONTENTION", `${name} changed ${ATTEMPTS_MAX} times under one update`);
  }

  /** Changes one entry where it stands, in an open or a closed page; does nothing where there is none. @throws KvFault */
  amend(name: string, place: Place, change: (entry: Static<S>) => Static<S>): Promise<void> {
    return inTurn(this.#control, name, () => this.#amend(name, place, change));
  }

  async #amend(name: string, place: Place, change: (entry: Static<S>) => Static<S>): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (await this.#amendOnce(name, place, change)) return;
    }
    throw new InvariantViolation("CONTROL_CONTENTION", `${name} changed ${ATTEMPTS_MAX} times under one update`);
  }

  async #amendOnce(name: string, { page, index }: Place, change: (entry: Static<S>) => Static<S>): Promise<boolean> {
    const open = await this.#readOpen(name);
    if (open === undefined || page > open.value.page) return true;
    const isOpen = page === open.value.page;
    const closed = isOpen ? undefined : await readRecord(this.#control, closedName(name, page), this.#closed);
    const entries = isOpen ? open.value.entries : (closed?.value.entries ?? []);
    const present = entries[index];
    const changed = present === undefined ? undefined : change(present);
    if (changed === undefined || changed === present) return true;
    const replaced = entries.with(index, changed);
    if (isOpen) return replaceRecord(this.#control, name, this.#open, open.tag, { page, entries: replaced });
    return replaceRecord(this.#control, closedName(name, page), this.#closed, closed?.tag, { entries: replaced });
  }

  async #close(name: string, page: number): Promise<void> {
    const closed = await readRecord(this.#control, closedName(name, page), this.#closed);
    const open = await this.#readOpen(name);
    if (open === undefined || open.value.page !== page) return;
    const { entries } = open.value;
    if (!(await replaceRecord(this.#control, closedName(name, page), this.#closed, closed?.tag, { entries }))) return;
    await replaceRecord(this.#control, name, this.#open, open.tag, { page: page + 1, entries: [] });
  }

  #readOpen(name: string): Promise<Stored<{ page: number; entries: Static<S>[] }> | undefined> {
    return readRecord(this.#control, name, this.#open);
  }
}

/** The last change of each log of a store that is under way in this process; never rejects. */
const turns = new WeakMap<ControlStore, Map<string, Promise<void>>>();

/**
 * Changes of one log wait for each other within a process: a resumption of a hundred partitions enters a hundred calls at
 * once, which would lose race after race against each other. Other instances are met by compare-and-set.
 */
function inTurn<T>(control: ControlStore, name: string, task: () => Promise<T>): Promise<T> {
  const logs = turns.get(control) ?? new Map<string, Promise<void>>();
  turns.set(control, logs);
  const result = (logs.get(name) ?? Promise.resolve()).then(task);
  const ended = result.then(
    () => undefined,
    () => undefined,
  );
  logs.set(name, ended);
  return result;
}

function closedName(name: string, page: number): string {
  return `${name}/${page}`;
}
