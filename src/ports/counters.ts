import type { Calibration } from "../core/counting/calibration.ts";
import type { Rollup } from "../core/counting/keys.ts";
import type { PartitionAsOf, TrafficBy } from "../core/counting/reading.ts";
import type { Offset } from "../core/offset.ts";

/** One row's share of a counter, as it is stored. */
export interface SlotShare {
  readonly partition: number;
  readonly log: number;
  readonly row: number;
  /** Offsets that the row covers; of an open row up to what is reserved. */
  readonly from: Offset;
  readonly until: Offset;
  readonly revision: number;
  /** The last record of the row that this counter holds. */
  readonly offset: Offset;
  /** Where the slot begins, of traffic: a span may hold many. */
  readonly startMs?: number;
  readonly counters: readonly bigint[];
  readonly visitors?: number;
}

/** Which counters, of which namespace: needed only where several sources of the kind run. */
export interface CounterQuery {
  readonly namespace: string | undefined;
  readonly breakdown: boolean;
  readonly cursor?: string | undefined;
}

/** Traffic of an article in `[fromMs, toMs)`. */
export interface TrafficQuery extends CounterQuery {
  readonly article: string;
  readonly metric: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly by: TrafficBy;
}

/** Events of one metric in one span. */
export interface TrafficCount {
  readonly metric: string;
  readonly startMs: number;
  readonly count: bigint;
  /** Estimate of distinct visitors; undefined where none of it was counted with them. */
  readonly visitors: number | undefined;
  /** Some of it was counted without visitors: the estimate is too low. */
  readonly visitorsPartial: boolean;
  readonly slots?: readonly SlotShare[];
}

/** Ad actions of a campaign, by the members of a rollup; hours in `[fromMs, toMs)`. */
export interface ActionsQuery extends CounterQuery {
  readonly campaign: string;
  readonly by: Rollup;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** Impressions and clicks of one member. */
export interface ActionCount {
  /** Undefined for the campaign itself; empty where the record did not say; an hour's start in milliseconds. */
  readonly member: string | number | undefined;
  readonly impressions: bigint;
  readonly clicks: bigint;
  readonly slots?: readonly SlotShare[];
}

/**
 * What was read, up to where each partition was applied at least, and where to go on: an answer takes bounded work, so it may
 * have few items, or none, and a `next`.
 */
export interface CounterPage<Item> {
  readonly namespace: string;
  readonly source: string;
  readonly items: readonly Item[];
  readonly asOf: readonly PartitionAsOf[];
  readonly readAt: number;
  readonly next: string | undefined;
}

/** The answer for one of many keys; its `next` is a cursor of the same question about that key alone. */
export interface KeyedItems<Item> {
  readonly key: string;
  readonly items: readonly Item[];
  readonly next: string | undefined;
}

/** How well served scores predicted clicks. */
export interface CalibrationView extends Omit<CounterPage<never>, "items" | "next"> {
  readonly calibration: Calibration;
}

/** Reads of counters: sums over the rows that count, never of a recount that is under way. */
export interface CounterQueries {
  /** @throws StreamsError NAMESPACE_UNKNOWN, NAMESPACE_NEEDED, CURSOR_UNKNOWN, COUNTERS_CHANGING; KvFault */
  traffic(query: TrafficQuery): Promise<CounterPage<TrafficCount>>;
  /** The same for many articles, each with its own cursor. @throws as {@link traffic} */
  trafficOf(
    articles: readonly string[],
    query: Omit<TrafficQuery, "article" | "cursor">,
  ): Promise<CounterPage<KeyedItems<TrafficCount>>>;
  /** @throws as {@link traffic} */
  actions(query: ActionsQuery): Promise<CounterPage<ActionCount>>;
  /** The same for many campaigns. @throws as {@link traffic} */
  actionsOf(
    campaigns: readonly string[],
    query: Omit<ActionsQuery, "campaign" | "cursor">,
  ): Promise<CounterPage<KeyedItems<ActionCount>>>;
  /** Of a campaign, or of one article in it. @throws as {@link traffic}; ANSWER_TOO_LARGE where that takes too much work */
  calibration(campaign: string, article: string | undefined, namespace: string | undefined): Promise<CalibrationView>;
}
