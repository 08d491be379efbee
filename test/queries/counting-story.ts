import { createRecord, updateRecord } from "../../src/control/json-record.ts";
import { BindingRecord, recordNames, RevisionRecord } from "../../src/control/records.ts";
import { atOnce } from "../../src/core/steps.ts";
import { BatchCount } from "../../src/core/counting/batch-count.ts";
import { slotSuffix } from "../../src/core/counting/keys.ts";
import type { CountingSettings } from "../../src/core/counting/settings.ts";
import { SlotCache } from "../../src/core/counting/slot-cache.ts";
import { copyKey } from "../../src/core/keys.ts";
import {
  closeOpenRow,
  type CountingLedger,
  type CountingRow,
  EMPTY_COUNTING_LEDGER,
  enter,
  reserve,
} from "../../src/core/ledger/counting-ledger.ts";
import { exchangeRows, planRecount } from "../../src/core/ledger/recount.ts";
import { encodeCopy } from "../../src/core/partition/copy.ts";
import { DEFAULT_COUNTING_OF_SOURCE, type KindName } from "../../src/core/source.ts";
import { CountingLedgers } from "../../src/ledgers/counting-ledgers.ts";
import { CounterReader } from "../../src/queries/counter-queries.ts";
import { counterOf, NOW, type TestRecord } from "../consumers/kinds/counting.ts";
import { message } from "../consumers/kinds/support.ts";
import { definition } from "../support/fleet-world.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

export const PARTITIONS = 2;
const SOURCE = "counted";
/** The namespace that the kinds of `counterOf` write to. */
const NAMESPACE = "space";
const NAME = "runner";
/** Cells of a page here, so that a read takes several. */
const PAGE_CELLS = 3;
const encoder = new TextEncoder();

/**
 * A source whose records are counted by the service's own code into slots, and recounted step by step. Each call by
 * which a reader reads the plane is preceded by some steps of a recount.
 */
export class CountingStory {
  readonly plane = new MemoryPlane();
  readonly ledgers = new CountingLedgers(this.plane.control);
  readonly reader: CounterReader;
  /** Settings by revision − 1. */
  readonly #revisions: readonly Partial<CountingSettings>[];
  readonly #kind: KindName;
  readonly #counterOf: (revision: number) => ReturnType<typeof counterOf>;
  /** Records of each partition, by offset. */
  readonly #logs: TestRecord[][] = Array.from({ length: PARTITIONS }, () => []);
  #revision = 1;
  #steps: (() => Promise<void>)[] = [];
  /** Calls of readers before a recount begins, and steps that it takes at each then. */
  #pace = { delay: 0, stride: 1 };
  #stepping = false;
  /** Steps that were taken while somebody read. */
  stepsTaken = 0;

  private constructor(kind: KindName, subject: string, revisions: readonly Partial<CountingSettings>[]) {
    this.#kind = kind;
    this.#revisions = revisions;
    const counters = revisions.map((settings) => counterOf(kind, subject, settings));
    this.#counterOf = (revision) => {
      const counter = counters[revision - 1];
      if (counter === undefined) throw new Error(`revision ${revision}`);
      return counter;
    };
    const services = () => [{ parts: { inForce: { definition: this.#definition(1) } } }] as never;
    this.reader = new CounterReader({ phase: "serving", services }, this.plane, new ManualClock());
    const scan = this.plane.scan.bind(this.plane);
    this.plane.scan = (range) => scan({ ...range, limit: Math.min(range.limit, PAGE_CELLS) });
    this.plane.before = () => this.#step();
  }

  static async open(kind: KindName, subject: string, revisions: readonly Partial<CountingSettings>[]) {
    const story = new CountingStory(kind, subject, revisions);
    const { control } = story.plane;
    const binding = { clusterId: "c", topic: "t", epochs: [{ epoch: 0, partitions: PARTITIONS }] };
    await createRecord(control, recordNames.binding(SOURCE), BindingRecord, { ...binding, firstStart: "earliest" });
    for (const revision of revisions.keys()) {
      const record = { definition: story.#definition(revision + 1), verdict: "" } as never;
      await updateRecord(control, recordNames.revision(SOURCE, revision + 1), RevisionRecord, () => record);
    }
    return story;
  }

  /** Counts further records of a partition, in one batch. */
  async count(partition: number, records: readonly TestRecord[]): Promise<void> {
    const log = this.#log(partition);
    const from = log.length;
    log.push(...records);
    const ledger = await this.ledgers.update(this.#ledger(partition), (before) => {
      const now = { name: NAME, revision: this.#revision, nowMs: 0 };
      const entered = enter(before, { ...now, position: from });
      if (!("rows" in entered)) throw new Error("an uncovered start");
      const wanted = { ...now, next: log.length, end: log.length, ahead: 0, segmentEveryMs: Number.MAX_SAFE_INTEGER };
      return reserve(entered, wanted);
    });
    await this.#fold(partition, ledger, from, log.length);
    const copy = encodeCopy({ watermark: log.length, fingerprint: undefined, logStartSeen: 0 });
    await this.plane.write([{ space: "copy", key: copyKey(SOURCE, 0, partition), ...copy }]);
  }

  /** The next revision is in force from here on; after the last there is none. */
  revise(): void {
    this.#revision = Math.min(this.#revision + 1, this.#revisions.length);
  }

  /** Ends the open row and begins to count a closed one again, under the revision in force; a step for each record, and the exchange. */
  async recount(
    partition: number,
    choose: number,
    pace: { readonly delay: number; readonly stride: number },
  ): Promise<void> {
    if (this.#steps.length > 0 || this.#log(partition).length === 0) return;
    this.#pace = { ...pace };
    const ledger = await this.ledgers.update(this.#ledger(partition), (before) => closeOpenRow(before, 0));
    const rows = ledger.rows.slice(0, -1);
    const chosen = rows[choose % rows.length];
    if (chosen === undefined) return;
    const order = { rows: [chosen.number], copy: chosen.until, revision: this.#revision, nowMs: 0 };
    const plan = planRecount(ledger, order);
    if ("refused" in plan) throw new Error(plan.refused);
    await this.ledgers.update(this.#ledger(partition), () => plan.ledger);
    const row = plan.ranges[0]?.row;
    if (row === undefined) throw new Error("a recount of nothing");
    for (let offset = row.from; offset < row.until; offset += 1) {
      this.#steps.push(() => this.#fold(partition, alone(row), offset, offset + 1));
    }
    this.#steps.push(async () => {
      await this.ledgers.update(this.#ledger(partition), (before) => {
        const after = exchangeRows(before, plan.ranges);
        if ("refused" in after) throw new Error(after.refused);
        return after;
      });
    });
  }

  #definition(revision: number) {
    const counting = { ...DEFAULT_COUNTING_OF_SOURCE, ...this.#revisions[revision - 1] };
    return { ...definition, name: SOURCE, namespace: NAMESPACE, kind: this.#kind, counting };
  }

  #ledger(partition: number) {
    return { source: SOURCE, partition, log: 0 };
  }

  #log(partition: number): TestRecord[] {
    const log = this.#logs[partition];
    if (log === undefined) throw new Error(`partition ${partition}`);
    return log;
  }

  /** Counts the records `[from, to)` of a partition as a runner does that has just started. */
  async #fold(partition: number, ledger: CountingLedger, from: number, to: number): Promise<void> {
    const log = this.#log(partition);
    const recordAt = (index: number) => log[from + index];
    const steps = BatchCount.of(
      {
        count: to - from,
        offsetAt: (index) => from + index,
        timestampAt: () => NOW,
        keyAt: (index) => encoder.encode(String(recordAt(index)?.key)),
        valueAt: (index) => {
          const value = recordAt(index)?.value ?? null;
          return value === null || value instanceof Uint8Array ? value : message(value);
        },
      },
      0,
      {
        ledger,
        counterOf: this.#counterOf,
        suffixOf: (row) => slotSuffix({ source: SOURCE, partition, log: 0, row }),
        onFault: (_index, fault) => {
          throw new Error(fault.text);
        },
      },
    );
    const batch = atOnce(steps);
    const keys = atOnce(batch.bind(new SlotCache(1e6), from));
    const cells = await this.plane.restore(keys.map((key) => ({ space: "slot", key })));
    const writes: Parameters<BatchCount["fold"]>[2] = [];
    atOnce(batch.fold(cells, 1, writes));
    await this.plane.write(writes);
  }

  async #step(): Promise<void> {
    if (this.#stepping) return;
    this.#pace.delay -= 1;
    if (this.#pace.delay >= 0) return;
    this.#stepping = true;
    for (const step of this.#steps.splice(0, this.#pace.stride)) {
      await step();
      this.stepsTaken += 1;
    }
    this.#stepping = false;
  }
}

/** A ledger of one row, closed: what a recount counts under. */
function alone(row: CountingRow): CountingLedger {
  return { ...EMPTY_COUNTING_LEDGER, rows: [row], nextNumber: row.number + 1, listed: [row.number] };
}
