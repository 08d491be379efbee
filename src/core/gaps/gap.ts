import type { Offset } from "../offset.ts";

/** Why a range of offsets was passed over. */
export const GAP_CAUSES = ["dead-letter", "lost", "skipped", "epoch"] as const;
/**
 * `dead-letter`: records in the range went to the dead-letter topic. `lost`: the log no longer held it when an operator
 * resumed. `skipped`: the log held it and an operator passed over it. `epoch`: an older log was given up for a new one.
 */
export type GapCause = (typeof GAP_CAUSES)[number];

/** One range `[from, to)` of one partition that was passed over (I12). */
export interface Gap {
  readonly topicEpoch: number;
  readonly from: Offset;
  /** Null where nobody can know: the end of a log that is gone. */
  readonly to: Offset | null;
  readonly cause: GapCause;
  /** Name of the token, or `service` for what the system did by itself. */
  readonly actor: string;
  readonly reason: string;
  /** When it was first entered, and when it last grew. */
  readonly at: number;
  readonly lastAt: number;
  /** Records that went to the dead letters; null for ranges of which nobody counted the records. */
  readonly records: number | null;
  /** How many of them per code; empty for other causes. */
  readonly codes: readonly { readonly code: string; readonly records: number }[];
  /** Audit entry of the call that passed it over; null for what the system did by itself. */
  readonly audit: string | null;
}

/** Letters of one batch, as the ledger of gaps sees them: ascending by offset. */
export interface LetterMark {
  readonly offset: Offset;
  readonly code: string;
}

/** Actor of what the system does by itself. */
export const SERVICE_ACTOR = "service";

/** An entry takes further letters for this long: after it, a new one begins, so that `since` and `until` can tell them apart. */
const GROWS_MS = 3_600_000;

/** Codes that one entry tells apart; the others are counted together. */
const CODES_MAX = 16;

/** Where letters beyond {@link CODES_MAX} codes are counted. */
const OTHER_CODES = "OTHER";

/**
 * Enters the letters of one batch: one entry per partition and hour grows, however many letters there are. Letters within
 * the range of an entry are in it already, because a batch is entered whole and in order before it is acknowledged:
 *
 * 1. the batch [100, 200) is entered, its letters are published, the process dies before it acknowledges;
 * 2. the next owner reads [100, 200) again, finds the same letters, and enters nothing.
 *
 * Returns the same list when nothing is new. Pure.
 *
 * @param entries what the partition's page holds, oldest first
 */
export function enterLetters(
  entries: readonly Gap[],
  topicEpoch: number,
  letters: readonly LetterMark[],
  nowMs: number,
): readonly Gap[] {
  const known = entries.filter((gap) => gap.cause === "dead-letter" && gap.topicEpoch === topicEpoch);
  const fresh = letters.filter(({ offset }) => !known.some((gap) => covers(gap, offset)));
  const [first] = fresh;
  const last = fresh.at(-1);
  if (first === undefined || last === undefined) return entries;
  const open = entries.at(-1);
  const grows =
    open !== undefined &&
    open.cause === "dead-letter" &&
    open.topicEpoch === topicEpoch &&
    open.to !== null &&
    open.to <= first.offset &&
    nowMs - open.at < GROWS_MS &&
    !known.some((gap) => gap !== open && gap.to !== null && gap.to > (open.to ?? 0) && gap.from < last.offset);
  const base = grows ? open : emptyEntry(topicEpoch, first.offset, nowMs);
  const grown: Gap = {
    ...base,
    to: last.offset + 1,
    lastAt: nowMs,
    records: (base.records ?? 0) + fresh.length,
    codes: fresh.reduce((codes, { code }) => counted(codes, code), base.codes),
  };
  return [...(grows ? entries.slice(0, -1) : entries), grown];
}

function emptyEntry(topicEpoch: number, from: Offset, nowMs: number): Gap {
  return {
    topicEpoch,
    from,
    to: from,
    cause: "dead-letter",
    actor: SERVICE_ACTOR,
    reason: "the records can never be applied; they are in the dead-letter topic",
    at: nowMs,
    lastAt: nowMs,
    records: 0,
    codes: [],
    audit: null,
  };
}

function covers({ from, to }: Gap, offset: Offset): boolean {
  return from <= offset && (to === null || offset < to);
}

function counted(codes: Gap["codes"], code: string): Gap["codes"] {
  const known = codes.some((entry) => entry.code === code);
  const name = known || codes.length < CODES_MAX ? code : OTHER_CODES;
  if (!codes.some((entry) => entry.code === name)) return [...codes, { code: name, records: 1 }];
  return codes.map((entry) => (entry.code === name ? { ...entry, records: entry.records + 1 } : entry));
}

/** Enters ranges that one call passed over, once: what the call has entered before stays as it is. Pure. */
export function enterRanges(entries: readonly Gap[], ranges: readonly Gap[]): readonly Gap[] {
  const missing = ranges.filter((range) => !entries.some((entry) => sameRange(entry, range)));
  return missing.length === 0 ? entries : [...entries, ...missing];
}

/** Whether two entries are the same range passed over by the same call. */
export function sameRange(a: Gap, b: Gap): boolean {
  return a.audit === b.audit && a.cause === b.cause && a.from === b.from && a.topicEpoch === b.topicEpoch;
}
