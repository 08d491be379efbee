import { createHash } from "node:crypto";
import { RevisionRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { StreamsError } from "../errors.ts";
import type { LedgerPage, LedgerRowView } from "../ports/descriptors.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import { JobStore } from "../jobs/job-store.ts";
import { type JobWrite, writesOf } from "../jobs/job-writes.ts";
import { type PartitionLedger, ledgersOf } from "./uses.ts";

/** Rows and jobs' ranges of one answer. */
const PAGE_MAX = 200;

/** Revisions are immutable: what they mean is read once. */
type Meaning = Pick<LedgerRowView, "descriptor" | "digest">;

/** Reads ledgers, and what jobs wrote beside them, with what their revisions mean. */
export class LedgerReader {
  readonly #control: ControlStore;

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /**
   * See `DescriptorCommands.ledger`. The cursor is where the last row or job begins, and how many that begin there were given:
   * one range may have several.
   */
  async read(source: string, partition: number | undefined, cursor: string | undefined): Promise<LedgerPage> {
    const after = cursor === undefined ? undefined : parseCursor(cursor);
    const all = (await this.#entries(source)).filter(
      (entry) => (partition === undefined || entry.partition === partition) && isBehind(entry, after),
    );
    const left = after === undefined ? all : all.slice(given(all, after, after.given));
    const page = left.slice(0, PAGE_MAX);
    const meanings = new Map<number, Meaning>();
    for (const { revision } of page) {
      if (!meanings.has(revision)) meanings.set(revision, await this.#meaning(source, revision));
    }
    const meaningOf = (revision: number) => meanings.get(revision) ?? { descriptor: undefined, digest: undefined };
    const last = page.at(-1);
    const more = last !== undefined && left.length > page.length;
    return {
      rows: page.flatMap((entry) =>
        "job" in entry ? [] : [{ ...entry, until: entry.until ?? undefined, ...meaningOf(entry.revision) }],
      ),
      jobs: page.flatMap((entry) => ("job" in entry ? [{ ...entry, ...meaningOf(entry.revision) }] : [])),
      next: more ? cursorOf(last, given(all.slice(0, all.length - left.length + page.length), last)) : undefined,
    };
  }

  async #entries(source: string): Promise<readonly Entry[]> {
    const rows = (await ledgersOf(this.#control, source)).flatMap((ledger) =>
      ledger.rows.map((row) => ({ partition: ledger.partition, ...row })),
    );
    const wrote = await writesOf(new JobStore(this.#control), source);
    return [...rows, ...wrote].toSorted((a, b) => a.partition - b.partition || a.from - b.from);
  }

  async #meaning(source: string, revision: number): Promise<Meaning> {
    const record = (await readRecord(this.#control, recordNames.revision(source, revision), RevisionRecord))?.value;
    if (record === undefined) return { descriptor: undefined, digest: undefined };
    const digest = createHash("sha256").update(record.verdict).digest("hex");
    return { descriptor: record.definition.descriptor, digest };
  }
}

type Entry = ({ readonly partition: number } & PartitionLedger["rows"][number]) | JobWrite;

type Place = Pick<Entry, "partition" | "from">;

/** Not before a place: what begins at it is not left out. */
function isBehind({ partition, from }: Place, after: Place | undefined): boolean {
  if (after === undefined || partition > after.partition) return true;
  return partition === after.partition && from >= after.from;
}

/** How many of the entries begin at a place, at most `max`. */
function given(entries: readonly Entry[], { partition, from }: Place, max = Infinity): number {
  return Math.min(entries.filter((entry) => entry.partition === partition && entry.from === from).length, max);
}

function cursorOf({ partition, from }: Place, count: number): string {
  return `${partition}-${from}-${count}`;
}

function parseCursor(cursor: string): Place & { readonly given: number } {
  const match = /^(\d{1,10})-(\d{1,16})-(\d{1,10})$/.exec(cursor);
  if (match === null) throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of a ledger");
  return { partition: Number(match[1]), from: Number(match[2]), given: Number(match[3]) };
}
