import { calibrate } from "../core/counting/calibration.ts";
import { actionKey, articleRange, hourRange, rollupRange, slotRange, trafficRange } from "../core/counting/keys.ts";
import { actionsBy, spanStart, trafficBy } from "../core/counting/reading.ts";
import { countingOf } from "../core/source.ts";
import { RevisionRecord, recordNames } from "../control/records.ts";
import { readRecord } from "../control/json-record.ts";
import { invariant } from "../core/invariant.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Clock } from "../ports/clock.ts";
import type {
  ActionCount,
  ActionsQuery,
  CalibrationView,
  CounterPage,
  CounterQueries,
  KeyedItems,
  SlotShare,
  TrafficCount,
  TrafficQuery,
} from "../ports/counters.ts";
import type { KvPlane } from "../ports/kv-plane.ts";
import { type CountedRows, countedRows, rowName, stillSummed } from "./counted-rows.ts";
import { type SourceOfKind, sourceOfKind } from "./source-of-kind.ts";
import { type CounterScan, type NamedSlot, scanGroups } from "./counter-scan.ts";

/** Spans or members of one answer. */
export const COUNTERS_PAGE_MAX = 1_000;
/** Of each key of a bulk read. */
export const COUNTERS_KEY_PAGE_MAX = 100;
/** Pairs that a calibration sums. */
const PAIRS_MAX = 100_000;
/** Keys of a bulk read that are scanned at once. */
const SCANS_AT_ONCE = 8;
/** How often a read begins anew because rows were exchanged under it. */
const ATTEMPTS = 5;
/** Before and after every moment that a key can hold. */
const MOMENT_MAX = 2 ** 52 - 1;

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

  async traffic(query: TrafficQuery): Promise<CounterPage<TrafficCount>> {
    const counted = sourceOfKind(this.#fleet, "traffic", query.namespace);
    return this.#page(counted, async (rows) => {
      const { items, next } = await this.#traffic(counted, query, rows, COUNTERS_PAGE_MAX);
      return { items, next };
    });
  }

  async trafficOf(articles: readonly string[], query: Omit<TrafficQuery, "article" | "cursor">) {
    const counted = sourceOfKind(this.#fleet, "traffic", query.namespace);
    return this.#page(counted, async (rows) => ({
      items: await each(articles, (article) =>
        this.#traffic(counted, { ...query, article }, rows, COUNTERS_KEY_PAGE_MAX),
      ),
      next: undefined,
    }));
  }

  async actions(query: ActionsQuery): Promise<CounterPage<ActionCount>> {
    const counted = sourceOfKind(this.#fleet, "ad_actions", query.namespace);
    return this.#page(counted, async (rows) => {
      const { items, next } = await this.#actions(counted, query, rows, COUNTERS_PAGE_MAX);
      return { items, next };
    });
  }

  async actionsOf(campaigns: readonly string[], query: Omit<ActionsQuery, "campaign" | "cursor">) {
    const counted = sourceOfKind(this.#fleet, "ad_actions", query.namespace);
    return this.#page(counted, async (rows) => ({
      items: await each(campaigns, (campaign) =>
        this.#actions(counted, { ...query, campaign }, rows, COUNTERS_KEY_PAGE_MAX),
      ),
      next: undefined,
    }));
  }

  async calibration(
    campaign: string,
    article: string | undefined,
    asked: string | undefined,
  ): Promise<CalibrationView> {
    const counted = sourceOfKind(this.#fleet, "ad_actions", asked);
    const { namespace } = counted;
    const range =
      article === undefined
        ? rollupRange(namespace, campaign, "article")
        : slotRange(actionKey(namespace, campaign, "article", article));
    const edgesOf = new Map<number, readonly number[]>();
    const { items, next, ...page } = await this.#page(counted, async (rows) => {
      const scan = { range, cursor: undefined, groupOf: memberOf, groupsMax: PAIRS_MAX };
      const scanned = await scanGroups(this.#plane, counted.source, scan);
      const slots = summed(scanned.groups.flat(), rows);
      const pairs = slots.map(async ({ counters, row: { revision } }) => {
        const edges = edgesOf.get(revision) ?? (await this.#edges(counted.source, revision));
        edgesOf.set(revision, edges);
        return { counters, edges };
      });
      return { items: await Promise.all(pairs), next: scanned.next };
    });
    if (next !== undefined) {
      throw new StreamsError(
        "ANSWER_TOO_LARGE",
        `the campaign has more than ${PAIRS_MAX} articles: ask for one of them`,
      );
    }
    return { ...page, calibration: calibrate(items) };
  }

  async #traffic(counted: SourceOfKind, query: Omit<TrafficQuery, "namespace">, rows: CountedRows, groupsMax: number) {
    const { article, metric, by, breakdown, cursor, fromMs = -MOMENT_MAX, toMs = MOMENT_MAX } = query;
    const { namespace, source } = counted;
    const scan: CounterScan = {
      range:
        metric === undefined
          ? articleRange(namespace, article)
          : trafficRange(namespace, article, metric, fromMs, toMs),
      cursor,
      groupsMax,
      groupOf: (name) => {
        if (name.kind !== "traffic" || name.startMs < fromMs || name.startMs >= toMs) return undefined;
        return `${spanStart(by, name.startMs)} ${name.metric}`;
      },
    };
    const { groups, next } = await scanGroups(this.#plane, source, scan);
    const items = groups.flatMap((group): TrafficCount[] => {
      const slots = summed(group, rows).map((slot) => ({ ...slot, ...trafficName(slot) }));
      const found = slots[0]?.metric ?? "";
      return trafficBy(by, slots).map((span) => ({ metric: found, ...span, ...sharesOf(breakdown, slots) }));
    });
    return { items, next };
  }

  async #actions(counted: SourceOfKind, query: Omit<ActionsQuery, "namespace">, rows: CountedRows, groupsMax: number) {
    const { campaign, by, breakdown, cursor, fromMs = -MOMENT_MAX, toMs = MOMENT_MAX } = query;
    const { namespace, source } = counted;
    const range =
      by === "campaign"
        ? slotRange(actionKey(namespace, campaign, "campaign", undefined))
        : by === "hour"
          ? hourRange(namespace, campaign, fromMs, toMs)
          : rollupRange(namespace, campaign, by);
    const { groups, next } = await scanGroups(this.#plane, source, { range, cursor, groupsMax, groupOf: memberOf });
    const items = groups.flatMap((group): ActionCount[] => {
      const slots = summed(group, rows).map((slot) => ({ ...slot, member: actionMember(slot) ?? "" }));
      const member = slots[0] === undefined ? undefined : actionMember(slots[0]);
      return actionsBy(slots).map((totals) => ({ ...totals, member, ...sharesOf(breakdown, slots) }));
    });
    return { items, next };
  }

  /**
   * Reads under rows that stay summed while it reads: a recount exchanges them in one write, and slots of both would be half
   * of each. @throws StreamsError COUNTERS_CHANGING
   */
  async #page<Item>(
    { source, namespace }: SourceOfKind,
    read: (rows: CountedRows) => Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>,
  ): Promise<CounterPage<Item>> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = await countedRows(this.#plane, source);
      const { items, next } = await read(before);
      const after = await countedRows(this.#plane, source);
      const readAt = this.#clock.now();
      if (stillSummed(before, after)) return { namespace, source, items, asOf: before.asOf, readAt, next };
    }
    throw new StreamsError("COUNTERS_CHANGING", `rows of ${source} were exchanged while they were read`);
  }

  async #edges(source: string, revision: number): Promise<readonly number[]> {
    const record = await readRecord(this.#plane.control, recordNames.revision(source, revision), RevisionRecord);
    invariant(record !== undefined, "REVISION_UNKNOWN", `revision ${revision} of ${source} is not stored`);
    return countingOf(record.value.definition).scoreEdges;
  }
}

type SummedSlot = NamedSlot & {
  readonly row: { readonly from: number; readonly until: number; readonly revision: number };
};

function summed(slots: readonly NamedSlot[], { rows }: CountedRows): readonly SummedSlot[] {
  return slots.flatMap((slot) => {
    const row = rows.get(rowName(slot.owner));
    return row === undefined ? [] : [{ ...slot, row }];
  });
}

function sharesOf(breakdown: boolean, slots: readonly SummedSlot[]): { readonly slots?: readonly SlotShare[] } {
  if (!breakdown) return {};
  const shares = slots.map(({ owner, row, offset, counters, visitors }) => ({
    partition: owner.partition,
    log: owner.log,
    row: owner.row,
    from: row.from,
    until: row.until,
    revision: row.revision,
    offset,
    counters,
    ...(visitors === undefined ? {} : { visitors: visitors.estimate() }),
  }));
  return { slots: shares };
}

function trafficName({ name }: NamedSlot): { readonly metric: string; readonly startMs: number } {
  invariant(name.kind === "traffic", "SLOT_KEY", "a slot of another kind among those of traffic");
  return { metric: name.metric, startMs: name.startMs };
}

function actionMember({ name }: NamedSlot): string | number | undefined {
  invariant(name.kind === "actions", "SLOT_KEY", "a slot of another kind among those of ad actions");
  return name.member;
}

function memberOf(name: NamedSlot["name"]): string | undefined {
  return name.kind === "actions" ? `${name.member ?? ""}` : undefined;
}

/** Reads several keys, a few at a time; answers in their order. */
async function each<Item>(
  keys: readonly string[],
  read: (key: string) => Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }>,
): Promise<readonly KeyedItems<Item>[]> {
  const answers: KeyedItems<Item>[] = [];
  for (let from = 0; from < keys.length; from += SCANS_AT_ONCE) {
    const some = keys.slice(from, from + SCANS_AT_ONCE);
    answers.push(...(await Promise.all(some.map(async (key) => ({ key, ...(await read(key)) })))));
  }
  return answers;
}
