import type { OwnerLink } from "./owner-link.ts";

/** Ends of one owner, one after the other, after which its data is taken for damaged. */
const CRASHES_MAX = 3;
/**
 * Signals of the memory and the disk, and errors that LMDB has no better name for: a damaged page met by a put shows as
 * MDB_BAD_TXN. SIGKILL is not one of them: it comes from an operator, or for want of memory.
 */
const SIGNS = /SIGBUS|SIGSEGV|SIGABRT|SIGILL|MDB_(BAD_|PROBLEM|PANIC|INCOMPATIBLE|CURSOR_FULL|PAGE_FULL|KEYEXIST)/;

/** Counts how often owners ended by what damaged data does to them. */
export class Crashes {
  readonly #noted = new Map<OwnerLink, { readonly count: number; readonly life: number }>();

  /** To be called when an owner went down, any number of times. Says whether it was one too many for the data to be whole. */
  tooMany(link: OwnerLink): boolean {
    if (!SIGNS.test(link.reason?.text ?? "")) return false;
    const { life } = link;
    const before = this.#noted.get(link);
    if (before?.life === life) return false;
    const count = (before?.count ?? 0) + 1;
    this.#noted.set(link, { count, life });
    return count >= CRASHES_MAX;
  }

  /** It has stayed up. */
  forget(link: OwnerLink): void {
    this.#noted.delete(link);
  }
}
