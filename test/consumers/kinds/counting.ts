import { kinds } from "../../../consumers/index.ts";
import { countRecords, type RowCounter } from "../../../src/core/counting/count-records.ts";
import { atOnce } from "../../../src/core/steps.ts";
import { TallyFold } from "../../../src/core/counting/fold-tally.ts";
import { slotSuffix } from "../../../src/core/counting/keys.ts";
import { type CountingSettings, DEFAULT_COUNTING } from "../../../src/core/counting/settings.ts";
import { SlotCache } from "../../../src/core/counting/slot-cache.ts";
import { decodeSlot, type Slot } from "../../../src/core/counting/slot.ts";
import { Tally } from "../../../src/core/counting/tally.ts";
import type { KindName } from "../../../src/core/source.ts";
import { compileInputs } from "../../../src/decoding/input-view.ts";
import type { DecoderSpec } from "../../../src/ports/decoder.ts";
import { type Field, message, specOf } from "./support.ts";

/** When all records of these tests were appended. */
export const NOW = 1_790_000_000_000;

/** A record as a test writes it. */
export interface TestRecord {
  readonly key: string | Uint8Array | null;
  readonly value: readonly Field[] | Uint8Array | null;
  readonly timestampMs?: number;
}

const encoder = new TextEncoder();
const suffix = slotSuffix({ source: "s", partition: 0, log: 0, row: 1 });

/** Compiles a counting kind as the service does. */
export function counterOf(
  kind: KindName,
  subject: string,
  settings: Partial<CountingSettings> = {},
  spec: Partial<DecoderSpec> = {},
): RowCounter {
  const found = kinds.get(kind);
  if (found === undefined || !found.counting) throw new Error(`${kind} does not count`);
  const rules = found.compile("space", { ...DEFAULT_COUNTING, ...settings });
  return { ...rules, reader: compileInputs({ ...specOf(kind, subject), ...spec }) };
}

/** Counts records whose offsets are their indexes. Returns the slots by counter key in hexadecimal, and the faults. */
export function count(counter: RowCounter, records: readonly TestRecord[]) {
  const tally = new Tally(counter.families);
  const faults: (readonly [number, string])[] = [];
  const columns = {
    count: records.length,
    offsetAt: (index: number) => index,
    timestampAt: (index: number) => records[index]?.timestampMs ?? NOW,
    keyAt: (index: number) => {
      const key = records[index]?.key ?? null;
      return typeof key === "string" ? encoder.encode(key) : key;
    },
    valueAt: (index: number) => {
      const value = records[index]?.value ?? null;
      return value === null || value instanceof Uint8Array ? value : message(value);
    },
  };
  countRecords(columns, 0, records.length, counter, tally, (index, fault) => {
    faults.push([index, fault.code]);
    return "pass";
  });
  const fold = new TallyFold(tally, 1, suffix, new SlotCache(1e6));
  const unknown: Uint8Array[] = [];
  atOnce(fold.find(unknown));
  const cells = unknown.map(() => undefined);
  fold.restored(cells, 0);
  const writes: Parameters<TallyFold["fold"]>[1] = [];
  atOnce(fold.fold(1, writes));
  const slots = new Map<string, Slot>();
  for (const { key, ...cell } of writes) slots.set(hex(key.subarray(0, key.length - suffix.length)), decodeSlot(cell));
  return { slots, faults };
}

/** Bytes as the keys of {@link count} are written. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
