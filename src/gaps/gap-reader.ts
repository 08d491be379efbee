import type { Page } from "../control/paged-log.ts";
import { parsePlace, placeText } from "../control/paged-log.ts";
import type { Gap } from "../core/gaps/gap.ts";
import { StreamsError } from "../errors.ts";
import type { GapPage, GapQueries, GapQuery, GapView } from "../ports/operators.ts";
import { type GapLedger, type GapOwner, gapId } from "./gap-ledger.ts";

/** Entries of one answer. */
const ENTRIES_MAX = 100;

/** Control records read for one answer: what is left is behind its cursor. */
const READS_MAX = 64;

/** Where reading goes on: entries of this partition's page below `index`. */
interface Cursor extends GapOwner {
  readonly page: number | undefined;
  readonly index: number;
}

/** Reads of the gap ledger, by source and partition, newest first in each. */
export class GapReader implements GapQueries {
  readonly #ledger: GapLedger;

  constructor(ledger: GapLedger) {
    this.#ledger = ledger;
  }

  async list(query: GapQuery): Promise<GapPage> {
    const gaps: GapView[] = [];
    let at = await this.#begin(query);
    for (let reads = 0; at !== undefined; reads += 1) {
      if (reads === READS_MAX) return { gaps, next: cursorText(at) };
      const page: Page<Gap> = await this.#ledger.page(at, at.page);
      for (let index = Math.min(at.index, page.entries.length) - 1; index >= 0; index -= 1) {
        const gap = page.entries[index];
        if (gap === undefined || !matches(gap, query)) continue;
        if (gaps.length === ENTRIES_MAX) {
          return { gaps, next: cursorText({ ...at, page: page.page, index: index + 1 }) };
        }
        gaps.push(viewOf(at, gapId(at, page.page, index), gap));
      }
      at = await this.#after(at, page, query);
    }
    return { gaps };
  }

  async #begin({ cursor, source }: GapQuery): Promise<Cursor | undefined> {
    const sources = await this.#ledger.sources();
    if (source !== undefined && !sources.includes(source)) {
      throw new StreamsError("SOURCE_UNKNOWN", `there is no source ${source}`);
    }
    if (cursor !== undefined) return readCursor(cursor, source);
    const first = source ?? sources[0];
    return first === undefined ? undefined : newest(first, 0);
  }

  /** An older page of the same partition, else the next partition, else the next source. */
  async #after(at: Cursor, page: Page<Gap>, query: GapQuery): Promise<Cursor | undefined> {
    const { sinceMs } = query;
    const older =
      page.entries.length > 0 && page.entries.every(({ lastAt }) => sinceMs !== undefined && lastAt < sinceMs);
    if (page.page > 0 && !older) return { ...at, page: page.page - 1, index: Infinity };
    if (at.partition + 1 < (await this.#ledger.partitionsOf(at.source))) return newest(at.source, at.partition + 1);
    if (query.source !== undefined) return undefined;
    const following = (await this.#ledger.sources()).find((name) => name > at.source);
    return following === undefined ? undefined : newest(following, 0);
  }
}

function newest(source: string, partition: number): Cursor {
  return { source, partition, page: undefined, index: Infinity };
}

/** `articles/3/0-7`; `articles/3/new` for a partition of which nothing was read yet. */
function cursorText({ source, partition, page, index }: Cursor): string {
  const place = page === undefined ? "new" : placeText({ page, index: Number.isFinite(index) ? index : 9_999 });
  return `${source}/${partition}/${place}`;
}

function readCursor(text: string, source: string | undefined): Cursor {
  const [name, partition, place, ...more] = text.split("/");
  const at = place === undefined || place === "new" ? undefined : parsePlace(place);
  const known = name !== undefined && partition !== undefined && /^(0|[1-9][0-9]{0,9})$/.test(partition);
  if (!known || more.length > 0 || (place !== "new" && at === undefined) || (source !== undefined && source !== name)) {
    throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of this query");
  }
  const owner = { source: name, partition: Number(partition) };
  return at === undefined ? newest(owner.source, owner.partition) : { ...owner, ...at };
}

function matches(gap: Gap, { sinceMs, untilMs, cause, actor }: GapQuery): boolean {
  if (sinceMs !== undefined && gap.lastAt < sinceMs) return false;
  if (untilMs !== undefined && gap.at >= untilMs) return false;
  return (cause === undefined || gap.cause === cause) && (actor === undefined || gap.actor === actor);
}

function viewOf({ source, partition }: GapOwner, id: string, gap: Gap): GapView {
  const { to, records, audit, ...rest } = gap;
  return {
    id,
    source,
    partition,
    ...rest,
    ...(to === null ? {} : { to }),
    ...(records === null ? {} : { records }),
    ...(audit === null ? {} : { audit }),
  };
}
