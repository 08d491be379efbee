import { type AuditAction, AuditRecord } from "../control/log-records.ts";
import { PagedLog, parsePlace, placeText } from "../control/paged-log.ts";
import { recordNames } from "../control/records.ts";
import { invariant } from "../core/invariant.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { AuditEntryView, AuditPage, AuditQueries, AuditQuery } from "../ports/operators.ts";
import { type ControlStore, KvFault } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";

/** One call of an operator, before anything of it is done. */
export interface AuditCall {
  readonly actor: string;
  readonly action: AuditAction;
  readonly source: string;
  readonly partition: number | null;
  readonly reason: string;
  readonly detail: string;
}

/** Entries of one answer. */
const ENTRIES_MAX = 100;

/** Pages read for one answer: what is left is behind its cursor. */
const PAGES_MAX = 32;

/**
 * Who did what, when and why, and how it ended. A call is entered before anything of it is done, so that a change without
 * an entry cannot be; what it did is added afterwards. One call can be entered only afterwards: a repair while the plane has
 * no quorum to write the entry with. An entry that stays `started` is a call whose end nobody saw.
 */
export class AuditLog implements AuditQueries {
  readonly #log: PagedLog<typeof AuditRecord>;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(control: ControlStore, clock: Clock, logger: Logger) {
    this.#log = new PagedLog(control, AuditRecord);
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Enters a call. Returns the entry's id. @throws KvFault */
  async begin(call: AuditCall): Promise<string> {
    const entry: AuditRecord = { ...call, at: this.#clock.now(), outcome: "started", code: null, gaps: [] };
    const { page, entries } = await this.#log.change(recordNames.audit, (present) => [...present, entry]);
    return placeText({ page, index: entries.length - 1 });
  }

  /** The call was carried out, passing over these entries of the gap ledger. May be repeated. @throws KvFault */
  async applied(id: string, gaps: readonly string[]): Promise<void> {
    await this.#amend(id, (entry) =>
      entry.outcome === "applied" && gaps.every((gap) => entry.gaps.includes(gap))
        ? entry
        : { ...entry, outcome: "applied", gaps: [...new Set([...entry.gaps, ...gaps])] },
    );
  }

  /**
   * As {@link applied}, for a change that is durable already: where the end cannot be entered the call succeeded all the
   * same, and its entry stays `started`. Never rejects for the store.
   */
  async finish(id: string, gaps: readonly string[]): Promise<void> {
    try {
      await this.applied(id, gaps);
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
      this.#logger.warn({ audit: id, code: error.code }, "the end of a call could not be entered in the audit log");
    }
  }

  /**
   * Runs a call between its entry and its end. A refusal is entered with its code; where even that fails the caller gets
   * the refusal all the same, and the entry stays `started`.
   * @throws what the call throws; KvFault when the call could not be entered
   */
  async around<T>(call: AuditCall, run: (id: string) => Promise<T>): Promise<T> {
    const id = await this.begin(call);
    return this.within(id, () => run(id));
  }

  /** As {@link around}, for a call that is entered already. @throws what the call throws */
  async within<T>(id: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof StreamsError) await this.#refused(id, error.code);
      throw error;
    }
  }

  /** Enters a call whose end is known: it could not be entered before it was carried out. `at`: when it was made. @throws KvFault */
  async enterLate(call: AuditCall, at: number, refusal: string | undefined): Promise<void> {
    const outcome = refusal === undefined ? "applied" : "refused";
    const entry: AuditRecord = { ...call, at, outcome, code: refusal ?? null, gaps: [] };
    await this.#log.change(recordNames.audit, (present) => [...present, entry]);
  }

  async #refused(id: string, code: string): Promise<void> {
    try {
      await this.#amend(id, (entry) => ({ ...entry, outcome: "refused", code }));
    } catch (error) {
      this.#logger.warn({ audit: id, code, error }, "a refusal could not be entered in the audit log");
    }
  }

  async #amend(id: string, change: (entry: AuditRecord) => AuditRecord): Promise<void> {
    const place = parsePlace(id);
    invariant(place !== undefined, "AUDIT_ID", `${id} is no entry of the audit log`);
    await this.#log.amend(recordNames.audit, place, change);
  }

  /** Entries, newest first. @throws StreamsError CURSOR_UNKNOWN; KvFault */
  async list(query: AuditQuery): Promise<AuditPage> {
    const cursor = query.cursor === undefined ? undefined : parsePlace(query.cursor);
    if (query.cursor !== undefined && cursor === undefined) throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor");
    const found: AuditEntryView[] = [];
    let page = await this.#log.openPage(recordNames.audit);
    if (cursor !== undefined && cursor.page < page.page) page = await this.#log.page(recordNames.audit, cursor.page);
    let index = cursor?.page === page.page ? Math.min(cursor.index, page.entries.length) - 1 : page.entries.length - 1;
    for (let read = 1; ; read += 1) {
      for (; index >= 0; index -= 1) {
        const entry = page.entries[index];
        if (entry === undefined || !matches(entry, query)) continue;
        if (found.length === ENTRIES_MAX)
          return { entries: found, next: placeText({ page: page.page, index: index + 1 }) };
        found.push({ id: placeText({ page: page.page, index }), ...viewOf(entry) });
      }
      const older = page.entries.every(({ at }) => query.sinceMs !== undefined && at < query.sinceMs);
      if (page.page === 0 || (older && page.entries.length > 0)) return { entries: found };
      if (read === PAGES_MAX) return { entries: found, next: placeText({ page: page.page, index: 0 }) };
      page = await this.#log.page(recordNames.audit, page.page - 1);
      index = page.entries.length - 1;
    }
  }
}

function matches({ at, actor }: AuditRecord, { sinceMs, untilMs, actor: wanted }: AuditQuery): boolean {
  if (sinceMs !== undefined && at < sinceMs) return false;
  return (untilMs === undefined || at < untilMs) && (wanted === undefined || actor === wanted);
}

function viewOf({ partition, code, ...entry }: AuditRecord): Omit<AuditEntryView, "id"> {
  return { ...entry, ...(partition === null ? {} : { partition }), ...(code === null ? {} : { code }) };
}
