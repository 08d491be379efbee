import { BindingRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { decodeDocumentCell, type OrderedBytes } from "../core/cell.ts";
import { documentId, documentKey } from "../core/keys.ts";
import type { KindName, SourceDefinition } from "../core/source.ts";
import { type Binding, logOf, topicEpochOf } from "../core/topic/binding.ts";
import { versionOf } from "../core/version.ts";
import { CountingLedgers, type SummedRow } from "../ledgers/counting-ledgers.ts";
import type { Kind } from "../ports/kind.ts";
import type { CellAddress, KvPlane } from "../ports/kv-plane.ts";
import type { LetterState, StoredLetter } from "../ports/letters.ts";

/** Tells of letters what became of their records since, by what is stored now. */
export class LetterStates {
  readonly #plane: KvPlane;
  readonly #kinds: ReadonlyMap<KindName, Kind>;
  readonly #ledgers: CountingLedgers;

  constructor(plane: KvPlane, kinds: ReadonlyMap<KindName, Kind>) {
    this.#plane = plane;
    this.#kinds = kinds;
    this.#ledgers = new CountingLedgers(plane.control);
  }

  /** By index of the letters. @throws KvFault */
  async of(definition: SourceDefinition, letters: readonly StoredLetter[]): Promise<readonly LetterState[]> {
    const kind = this.#kinds.get(definition.kind);
    if (kind === undefined || letters.length === 0) return letters.map(() => "unknown");
    if (kind.counting) return this.#counted(definition.name, letters);
    return this.#stored(definition.namespace, kind.space, letters);
  }

  async #stored(namespace: string, space: CellAddress["space"], letters: readonly StoredLetter[]) {
    const ids = letters.map(({ key }) => documentId(key));
    const addresses = ids.flatMap((id) => (id === undefined ? [] : [{ space, key: documentKey(namespace, id) }]));
    const cells = await this.#plane.restore(addresses);
    let next = 0;
    return letters.map((letter, index): LetterState => {
      if (letter.omitted.key !== undefined) return "unknown";
      // Without an id nothing was ever stored, nor can be.
      if (ids[index] === undefined) return "open";
      next += 1;
      return storedState(letter, cells[next - 1]);
    });
  }

  async #counted(source: string, letters: readonly StoredLetter[]): Promise<readonly LetterState[]> {
    const binding = (await readRecord(this.#plane.control, recordNames.binding(source), BindingRecord))?.value;
    if (binding === undefined) return letters.map(() => "open");
    const rows = new Map<number, readonly SummedRow[]>();
    for (const { partition } of letters) {
      if (!rows.has(partition)) rows.set(partition, await this.#ledgers.summed(source, binding, partition));
    }
    return letters.map((letter) => countedState(letter, rows.get(letter.partition) ?? [], binding));
  }
}

/**
 * A letter says that its revision cannot apply the record. At the record's own version only a later revision can have applied it
 * since; a cell of an earlier one was there before the letter, and is what that revision made of the record.
 */
export function storedState(
  { topicEpoch, offset, partition, revision }: StoredLetter,
  cell: OrderedBytes | undefined,
): LetterState {
  const version = versionOf({ topicEpoch, offset });
  if (cell === undefined || cell.order < version) return "open";
  if (cell.order > version) return "superseded";
  const stored = decodeDocumentCell(cell.bytes);
  // Two partitions under one epoch share versions: a key that was produced to both.
  if (stored.partition !== partition) return "superseded";
  return stored.revision > revision ? "applied" : "open";
}

function countedState(letter: StoredLetter, rows: readonly SummedRow[], binding: Binding): LetterState {
  const row = rows.find(
    ({ log, from, until }) =>
      epochOf(binding, log, letter.partition) === letter.topicEpoch && from <= letter.offset && letter.offset < until,
  );
  return row !== undefined && row.revision > letter.revision ? "recounted" : "open";
}

function epochOf(binding: Binding, log: number, partition: number): number | undefined {
  if (log === logOf(binding)) return topicEpochOf(binding, partition);
  const past = binding.past?.find((entry) => entry.log === log);
  return past === undefined ? undefined : topicEpochOf({ ...binding, epochs: past.epochs }, partition);
}
