import type { Fleet } from "../fleet/fleet.ts";
import type { Clock } from "../ports/clock.ts";
import type {
  ActionCount,
  ActionsQuery,
  CalibrationView,
  CounterPage,
  CounterQueries,
  KeyedItems,
  TrafficCount,
  TrafficQuery,
} from "../ports/counters.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import { StreamsError } from "../errors.ts";
import { type ActionsAsked, actionsQuestion, type TrafficAsked, trafficQuestion } from "./counter-questions.ts";
import { readCalibration } from "./calibration-query.ts";
import { CountedRows } from "./counted-rows.ts";
import { counterCursor, readCounterCursor } from "./counter-cursor.ts";
import type { CounterQuestion } from "./counter-questions.ts";
import { type ScanBudget, scanGroups } from "./counter-scan.ts";
import { type SourceOfKind, sourceOfKind } from "./source-of-kind.ts";

/** Spans or members of one answer. */
export const COUNTERS_PAGE_MAX = 1_000;
/** Of each key of a bulk read. */
export const COUNTERS_KEY_PAGE_MAX = 100;
/** Slots that one answer looks at, about. */
export const PAGE_CELLS_MAX = 20_000;
/** The same for all keys of a bulk read together, and for a calibration. */
export const BULK_CELLS_MAX = 200_000;
/** Keys of a bulk read that are scanned at once. */
const SCANS_AT_ONCE = 8;
/** How often a read is tried while rows are exchanged under it. */
export const COUNTERS_ATTEMPTS = 5;

interface Items<Item> {
  readonly items: readonly Item[];
  readonly next: string | undefined;
}

interface Bounds {
  readonly cursor?: string | undefined;
  readonly rows: CountedRows;
  readonly groupsMax: number;
  readonly budget: ScanBudget;
}

/** Reads counters at R: the sum of the slots of listed rows. */
export class CounterReader implements CounterQueries {
  readonly #fleet: Pick<Fleet, "services" | "phase">;
  readonly #plane: KvPlane;
  readonly #clock: Clock;

  constructor(fleet: Pick<Fleet, "services" | "phase">, plane: KvPlane, clock: Clock) {
    this.#fleet = fleet;
    this.#plane = plane;
    this.#clock = clock;
  }

  async traffic({ namespace, cursor, ...query }: TrafficQuery): Promise<CounterPage<TrafficCount>> {
    const counted = sourceOfKind(this.#fleet, "traffic", namespace);
    return this.#one(counted, cursor, trafficQuestion(counted, query));
  }

  async trafficOf(
    articles: readonly string[],
    { namespace, ...query }: Omit<TrafficQuery, "article" | "cursor">,
  ): Promise<CounterPage<KeyedItems<TrafficCount>>> {
    const counted = sourceOfKind(this.#fleet, "traffic", namespace);
    const asked = (article: string): TrafficAsked => ({ ...query, article });
    return this.#many(counted, articles, (key) => trafficQuestion(counted, asked(key)));
  }

  async actions({ namespace, cursor, ...query }: ActionsQuery): Promise<CounterPage<ActionCount>> {
    const counted = sourceOfKind(this.#fleet, "ad_actions", namespace);
    return this.#one(counted, cursor, actionsQuestion(counted, query));
  }

  async actionsOf(
    campaigns: readonly string[],
    { namespace, ...query }: Omit<ActionsQuery, "campaign" | "cursor">,
  ): Promise<CounterPage<KeyedItems<ActionCount>>> {
    const counted = sourceOfKind(this.#fleet, "ad_actions", namespace);
    const asked = (campaign: string): ActionsAsked => ({ ...query, campaign });
    return this.#many(counted, campaigns, (key) => actionsQuestion(counted, asked(key)));
  }

  async calibration(
    campaign: string,
    article: string | undefined,
    namespace: string | undefined,
  ): Promise<CalibrationView> {
    const counted = sourceOfKind(this.#fleet, "ad_actions", namespace);
    const { value, ...about } = await this.#read(counted, (rows) =>
      readCalibration(this.#plane, counted, { campaign, article, rows, budget: { cells: BULK_CELLS_MAX } }),
    );
    return { ...about, calibration: value };
  }

  async #one<Item>(
    counted: SourceOfKind,
    cursor: string | undefined,
    question: CounterQuestion<Item>,
  ): Promise<CounterPage<Item>> {
    const { value, ...about } = await this.#read(counted, (rows) => {
      const budget = { cells: PAGE_CELLS_MAX };
      return this.#answer(question, { cursor, rows, groupsMax: COUNTERS_PAGE_MAX, budget });
    });
    return { ...about, ...value };
  }

  async #many<Item>(
    counted: SourceOfKind,
    keys: readonly string[],
    questionOf: (key: string) => CounterQuestion<Item>,
  ): Promise<CounterPage<KeyedItems<Item>>> {
    const { value, ...about } = await this.#read(counted, async (rows) => {
      const bounds = { rows, groupsMax: COUNTERS_KEY_PAGE_MAX, budget: { cells: BULK_CELLS_MAX } };
      const answers: KeyedItems<Item>[] = [];
      for (let from = 0; from < keys.length; from += SCANS_AT_ONCE) {
        const some = keys.slice(from, from + SCANS_AT_ONCE);
        const answer = async (key: string) => ({ key, ...(await this.#answer(questionOf(key), bounds)) });
        answers.push(...(await Promise.all(some.map(answer))));
      }
      return answers;
    });
    return { ...about, items: value, next: undefined };
  }

  async #answer<Item>({ text, scan }: CounterQuestion<Item>, { cursor, ...bounds }: Bounds): Promise<Items<Item>> {
    const start = cursor === undefined ? undefined : readCounterCursor(text, cursor, scan.range);
    const { items, next } = await scanGroups(this.#plane, { ...scan, ...bounds, start });
    return { items, next: next === undefined ? undefined : counterCursor(text, next) };
  }

  /**
   * Reads under rows that stay summed while it reads: a recount exchanges a partition's in one write, and slots of both would
   * be half of each. @throws StreamsError COUNTERS_CHANGING
   */
  async #read<Value>({ source, namespace }: SourceOfKind, read: (rows: CountedRows) => Promise<Value>) {
    for (let attempt = 0; attempt < COUNTERS_ATTEMPTS; attempt += 1) {
      const rows = await CountedRows.open(this.#plane, source);
      const value = await read(rows);
      const { asOf } = rows;
      if (await rows.stillHold()) return { namespace, source, asOf, readAt: this.#clock.now(), value };
    }
    throw new StreamsError("COUNTERS_CHANGING", `rows of ${source} were exchanged while they were read`);
  }
}
