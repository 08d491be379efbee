import type { FeedRecord } from "./articles.ts";
import { contractMessage, seconds } from "./contract.ts";

const HOUR_MS = 3_600_000;
const AdAction = contractMessage("ad_action.proto", "AdAction");
const Beacon = contractMessage("beacon.proto", "Beacon");
const Bid = contractMessage("bid.proto", "Bid");
const Campaign = contractMessage("campaign.proto", "Campaign");
const Dial = contractMessage("dial.proto", "Dial");

/** What was produced of one campaign. */
export interface Actions {
  impressions: number;
  clicks: number;
}

/** A repeatable feed of beacons about articles; counts by itself what should be counted. */
export class BeaconFeed {
  /** By article. */
  readonly views = new Map<string, number>();
  readonly visitors = new Map<string, Set<number>>();
  readonly #articles: number;
  #sent = 0;

  constructor(articles: number) {
    this.#articles = articles;
  }

  get sent(): number {
    return this.#sent;
  }

  next(count: number, nowMs: number): FeedRecord[] {
    return Array.from({ length: count }, () => this.#one(nowMs));
  }

  #one(nowMs: number): FeedRecord {
    const turn = this.#sent;
    this.#sent += 1;
    const articleId = `article-${(turn * turn) % this.#articles}`;
    const visitor = 1 + ((turn * 31) % 997);
    const times = turn % 10 === 0 ? 3 : 1;
    this.views.set(articleId, (this.views.get(articleId) ?? 0) + times);
    const seen = this.visitors.get(articleId) ?? new Set();
    this.visitors.set(articleId, seen.add(visitor));
    const beacon = {
      articleId,
      metric: "view",
      occurredAt: seconds(nowMs - (turn % 5) * HOUR_MS),
      // A hash: visitors are told apart by all of its bits.
      visitorHash: hashOf(visitor),
      ...(times === 1 ? {} : { count: times }),
    };
    return { key: articleId, value: encode(Beacon, beacon), timestampMs: nowMs };
  }
}

/** A repeatable feed of impressions and clicks; counts by itself what should be counted. */
export class ActionFeed {
  /** By campaign. */
  readonly totals = new Map<string, Actions>();
  readonly #campaigns: number;
  #sent = 0;

  constructor(campaigns: number) {
    this.#campaigns = campaigns;
  }

  get sent(): number {
    return this.#sent;
  }

  next(count: number, nowMs: number): FeedRecord[] {
    return Array.from({ length: count }, () => this.#one(nowMs));
  }

  #one(nowMs: number): FeedRecord {
    const turn = this.#sent;
    this.#sent += 1;
    const campaignId = `campaign-${turn % this.#campaigns}`;
    const click = turn % 13 === 0;
    const totals = this.totals.get(campaignId) ?? { impressions: 0, clicks: 0 };
    totals[click ? "clicks" : "impressions"] += 1;
    this.totals.set(campaignId, totals);
    const action = {
      campaignId,
      articleId: `article-${(turn * 7) % 50}`,
      placementId: `placement-${turn % 3}`,
      siteId: `site-${turn % 2}`,
      publisherId: `publisher-${turn % 4}`,
      action: click ? 2 : 1,
      servedScore: ((turn * 37) % 1_000) / 5_000,
      occurredAt: seconds(nowMs - (turn % 3) * HOUR_MS),
    };
    return { key: campaignId, value: encode(AdAction, action), timestampMs: nowMs };
  }
}

/** Campaigns as an upstream ad system sends them. */
export function campaignRecords(count: number, nowMs: number): FeedRecord[] {
  return Array.from({ length: count }, (_unused, number) => {
    const id = `campaign-${number}`;
    const campaign = { id, name: `Campaign ${number}`, status: 2, currency: "EUR", updatedAt: seconds(nowMs) };
    return { key: id, value: encode(Campaign, campaign), timestampMs: nowMs };
  });
}

/** Reach targets as an upstream system sets them. */
export function dialRecords(count: number, nowMs: number): FeedRecord[] {
  return Array.from({ length: count }, (_unused, number) => {
    const id = `dial-${number}`;
    const dial = {
      id,
      target: 1_000 * (number + 1),
      period: 2,
      campaignId: `campaign-${number}`,
      updatedAt: seconds(nowMs),
    };
    return { key: id, value: encode(Dial, dial), timestampMs: nowMs };
  });
}

/** Bid data: documents of a namespace of its own. */
export function bidRecords(count: number, nowMs: number): FeedRecord[] {
  return Array.from({ length: count }, (_unused, number) => {
    const id = `bid-${number}`;
    return { key: id, value: encode(Bid, { id }), timestampMs: nowMs };
  });
}

function encode(type: ReturnType<typeof contractMessage>, value: object): Buffer {
  return Buffer.from(type.encode(type.fromObject(value)).finish());
}

/** Spreads a number over 64 bits, as decimal text. */
function hashOf(value: number): string {
  return BigInt.asUintN(64, BigInt(value) * 0x9e37_79b9_7f4a_7c15n).toString();
}
