import { createHash } from "node:crypto";
import { RevisionRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { StreamsError } from "../errors.ts";
import type { LedgerPage, LedgerRowView } from "../ports/descriptors.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import { type PartitionLedger, ledgersOf } from "./uses.ts";

/** Rows of one answer. */
const PAGE_MAX = 200;

/** Revisions are immutable: what they mean is read once. */
type Meaning = Pick<LedgerRowView, "descriptor" | "digest">;

/** Reads ledgers with what their revisions mean. */
export class LedgerReader {
  readonly #control: ControlStore;

  constructor(control: ControlStore) {
    this.#control = control;
  }

  /** See `DescriptorCommands.ledger`. The cursor is the partition of the last row and where it begins. */
  async read(source: string, partition: number | undefined, cursor: string | undefined): Promise<LedgerPage> {
    const after = cursor === undefined ? undefined : parseCursor(cursor);
    const ledgers = (await ledgersOf(this.#control, source)).filter(
      (ledger) => partition === undefined || ledger.partition === partition,
    );
    const all = ledgers.flatMap((ledger) => behind(ledger, after));
    const page = all.slice(0, PAGE_MAX);
    const meanings = new Map<number, Meaning>();
    for (const { revision } of page) {
      if (!meanings.has(revision)) meanings.set(revision, await this.#meaning(source, revision));
    }
    const rows = page.map(({ until, ...row }) => {
      const meaning = meanings.get(row.revision);
      const descriptor = meaning?.descriptor;
      return { ...row, until: until ?? undefined, descriptor, digest: meaning?.digest };
    });
    const last = rows.at(-1);
    const more = last !== undefined && all.length > rows.length;
    return { rows, next: more ? `${last.partition}-${last.from}` : undefined };
  }

  async #meaning(source: string, revision: number): Promise<Meaning> {
    const record = (await readRecord(this.#control, recordNames.revision(source, revision), RevisionRecord))?.value;
    if (record === undefined) return { descriptor: undefined, digest: undefined };
    const digest = createHash("sha256").update(record.verdict).digest("hex");
    return { descriptor: record.definition.descriptor, digest };
  }
}

interface Place {
  readonly partition: number;
  readonly from: number;
}

function behind({ partition, rows }: PartitionLedger, after: Place | undefined) {
  if (after !== undefined && partition < after.partition) return [];
  const left = after?.partition === partition ? rows.filter(({ from }) => from > after.from) : rows;
  return left.map((row) => ({ partition, ...row }));
}

function parseCursor(cursor: string): Place {
  const match = /^(\d{1,10})-(\d{1,16})$/.exec(cursor);
  if (match === null) throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of a ledger");
  return { partition: Number(match[1]), from: Number(match[2]) };
}
