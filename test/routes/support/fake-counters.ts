import { calibrate } from "../../../src/core/counting/calibration.ts";
import { StreamsError } from "../../../src/errors.ts";
import type { ActionsQuery, CounterQueries, SlotShare, TrafficQuery } from "../../../src/ports/counters.ts";

const NOW = Date.UTC(2026, 10, 30, 8, 15);

const SLOT: SlotShare = {
  partition: 1,
  log: 0,
  row: 3,
  from: 10,
  until: 500,
  revision: 2,
  offset: 99,
  counters: [2n ** 60n],
  visitors: 7.6,
};

const about = {
  namespace: "beacons",
  source: "beacons",
  asOf: [
    { partition: 0, known: true, offset: 12 },
    { partition: 1, known: false, cause: "nothing of the partition was applied yet" },
  ],
  readAt: NOW,
} as const;

/** Counters of fixed answers; what was asked is kept. */
export class FakeCounters implements CounterQueries {
  readonly asked: unknown[] = [];

  async traffic(query: TrafficQuery) {
    this.asked.push(query);
    if (query.namespace === "other") throw new StreamsError("NAMESPACE_UNKNOWN", "nobody counts in it");
    const slots = query.breakdown ? { slots: [SLOT] } : {};
    const item = { metric: "view", startMs: 0, count: 2n ** 60n, visitors: 7.6, visitorsPartial: false, ...slots };
    return { ...about, items: [item], next: "bmV4dA" };
  }

  async trafficOf(articles: readonly string[], query: Omit<TrafficQuery, "article" | "cursor">) {
    const { items } = await this.traffic({ ...query, article: articles[0] ?? "" });
    return { ...about, items: articles.map((key) => ({ key, items, next: undefined })), next: undefined };
  }

  async actions(query: ActionsQuery) {
    this.asked.push(query);
    const member = query.by === "campaign" ? undefined : query.by === "hour" ? 3_600_000 : "m";
    return { ...about, items: [{ member, impressions: 5n, clicks: 1n }], next: undefined };
  }

  async actionsOf(campaigns: readonly string[], query: Omit<ActionsQuery, "campaign" | "cursor">) {
    const { items } = await this.actions({ ...query, campaign: campaigns[0] ?? "" });
    return { ...about, items: campaigns.map((key) => ({ key, items, next: undefined })), next: undefined };
  }

  async calibration(campaign: string, article: string | undefined, namespace: string | undefined) {
    this.asked.push({ campaign, article, namespace });
    const counters = [2n, 1n, 500_000_000n, 400_000_000n, 0n, 0n, 0n, 2n, 1n, 500_000_000n];
    return { ...about, calibration: calibrate([{ counters, edges: [0.1] }]) };
  }
}
