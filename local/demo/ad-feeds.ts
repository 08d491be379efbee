import { ActionFeed, BeaconFeed, bidRecords, campaignRecords, dialRecords } from "../feed/ads.ts";
import type { Stage } from "./stage.ts";

const ARTICLES = 50;
const CAMPAIGNS = 8;
/** How far an estimate of visitors may be off: several times its standard error. */
const VISITORS_TOLERANCE = 0.1;

/** The feeds beside the articles, and what the service must say of them. */
export class AdFeeds {
  readonly beacons = new BeaconFeed(ARTICLES);
  readonly actions = new ActionFeed(CAMPAIGNS);
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Sends what changes rarely. */
  async begin(): Promise<void> {
    const { producer, topics } = this.#stage;
    const now = Date.now();
    await producer.send(campaignRecords(CAMPAIGNS, now), topics.campaigns);
    await producer.send(dialRecords(CAMPAIGNS, now), topics.dials);
    await producer.send(bidRecords(CAMPAIGNS, now), topics.bids);
  }

  /** Sends so many beacons and ad actions. */
  async next(count: number): Promise<void> {
    const { producer, topics } = this.#stage;
    const now = Date.now();
    await producer.send(this.beacons.next(count, now), topics.beacons);
    await producer.send(this.actions.next(count, now), topics.actions);
  }

  /** What the service says otherwise than what was produced, one line each. */
  async problems(): Promise<string[]> {
    return [...(await this.#traffic()), ...(await this.#actions()), ...(await this.#documents())];
  }

  async #traffic(): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [article, views] of this.beacons.views) {
      const body = await this.#read(`/v1/traffic/${article}?metric=view`);
      const spans = listOf(body, "traffic");
      const count = spans.reduce<number>((sum, span) => sum + Number(memberOf(span, "count")), 0);
      if (count !== views) problems.push(`traffic of ${article}: ${views} views were produced, ${count} are counted`);
      const seen = this.beacons.visitors.get(article)?.size ?? 0;
      const days = listOf(await this.#read(`/v1/traffic/${article}?metric=view&by=day`), "traffic");
      const visitors = days.reduce<number>((most, span) => Math.max(most, Number(memberOf(span, "visitors"))), 0);
      const off = Math.abs(visitors - seen) / seen;
      if (days.length === 1 && off > VISITORS_TOLERANCE)
        problems.push(`visitors of ${article}: ${seen} were produced, ${visitors} are estimated`);
    }
    return problems;
  }

  async #actions(): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [campaign, { impressions, clicks }] of this.actions.totals) {
      for (const by of ["", "?by=article", "?by=placement", "?by=site", "?by=publisher", "?by=hour"]) {
        const rows = listOf(await this.#read(`/v1/campaigns/${campaign}/actions${by}`), "actions");
        const sum = (name: string) => rows.reduce<number>((all, row) => all + Number(memberOf(row, name)), 0);
        if (sum("impressions") === impressions && sum("clicks") === clicks) continue;
        problems.push(
          `${campaign} ${by}: ${impressions} impressions and ${clicks} clicks were produced, ${sum("impressions")} and ${sum("clicks")} are counted`,
        );
      }
      const calibration = await this.#read(`/v1/campaigns/${campaign}/calibration`);
      if (memberOf(calibration, "scoredImpressions") !== `${impressions}`)
        problems.push(`${campaign}: calibration has ${String(memberOf(calibration, "scoredImpressions"))} impressions`);
    }
    return problems;
  }

  async #documents(): Promise<readonly string[]> {
    const problems: string[] = [];
    for (let number = 0; number < CAMPAIGNS; number += 1) {
      for (const path of [
        `/v1/documents/campaigns/campaign-${number}`,
        `/v1/dials/dial-${number}`,
        `/v1/documents/bids/bid-${number}`,
      ]) {
        const { status } = await this.#stage.service.get(path);
        if (status !== 200) problems.push(`${path}: answered ${status}`);
      }
    }
    return problems;
  }

  async #read(path: string): Promise<unknown> {
    const { status, body } = await this.#stage.service.get(path);
    return status === 200 ? body : undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name);
  return Array.isArray(list) ? list : [];
}
