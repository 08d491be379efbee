import { trafficKey } from "../../src/core/counting/keys.ts";
import { slotKey, slotSuffix } from "../../src/core/counting/keys.ts";
import { decodeSlot } from "../../src/core/counting/slot.ts";
import { countingRowAt } from "../../src/core/ledger/counting-ledger.ts";
import type { CountingLedger } from "../../src/core/ledger/counting-ledger.ts";
import { VisitorSketch } from "../../src/core/counting/sketch.ts";
import { ByteSink } from "../../src/core/counting/varint.ts";
import type { OrderedBytes } from "../../src/core/cell.ts";
import type { FakeRecord } from "./fake-log.ts";

/** What a slot holds, so that two of them can be compared. */
export interface SlotContent {
  readonly offset: number;
  readonly count: bigint;
  readonly visitors: string;
}

/** How the records of a partition are counted into slots. */
export interface Counted {
  readonly source: string;
  readonly partition: number;
  readonly ledger: CountingLedger;
  readonly records: readonly FakeRecord[];
  /** Width of a slot under a revision, in milliseconds. */
  readonly widthOf: (revision: number) => number;
}

interface Sum {
  offset: number;
  count: bigint;
  readonly visitors: VisitorSketch;
}

/**
 * What every slot of the listed rows must hold, by the hexadecimal key of its cell: the records that can be read, one by one, each
 * under the row that covers it, in the plainest way there is.
 */
export function expectedSlots({ source, partition, ledger, records, widthOf }: Counted): Map<string, SlotContent> {
  const sums = new Map<string, Sum>();
  for (const { key, value, offset } of records) {
    const row = countingRowAt(ledger, offset);
    const fields = Buffer.from(value ?? [])
      .toString()
      .split("|");
    if (row === undefined || key === null || fields.length === 1) continue;
    const [article = "", metric = "", at = "", visitor = "", count = ""] = fields;
    const width = widthOf(row.revision);
    const counter = trafficKey("articles", article, metric, Math.floor(Number(at) / width) * width);
    const slot = Buffer.from(slotKey(counter, slotSuffix({ source, partition, log: 0, row: row.number }))).toString(
      "hex",
    );
    const amount = BigInt(count || "1");
    if (amount === 0n) continue;
    const sum = sums.get(slot) ?? { offset, count: 0n, visitors: new VisitorSketch() };
    sums.set(slot, sum);
    sum.count += amount;
    sum.offset = offset;
    const hash = BigInt(visitor || "0");
    if (hash !== 0n) sum.visitors.add(Number(hash >> 32n), Number(hash & 0xffff_ffffn));
  }
  return new Map(
    [...sums].map(([key, { offset, count, visitors }]) => [key, { offset, count, visitors: hex(visitors) }]),
  );
}

/** What is stored of a partition's listed rows, in the same form. */
export function storedSlots(
  { source, partition, ledger }: Pick<Counted, "source" | "partition" | "ledger">,
  cells: ReadonlyMap<string, OrderedBytes>,
): Map<string, SlotContent> {
  const suffixes = ledger.listed.map((row) =>
    Buffer.from(slotSuffix({ source, partition, log: 0, row })).toString("hex"),
  );
  return new Map(
    [...cells]
      .filter(([key]) => suffixes.some((suffix) => key.endsWith(suffix)))
      .map(([key, cell]) => {
        const { offset, counters, visitors } = decodeSlot(cell);
        return [key, { offset, count: counters[0] ?? 0n, visitors: visitors === undefined ? "" : hex(visitors) }];
      }),
  );
}

function hex(visitors: VisitorSketch): string {
  const sink = new ByteSink();
  visitors.encode(sink);
  return Buffer.from(sink.take()).toString("hex");
}
