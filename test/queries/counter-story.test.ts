import * as fc from "fast-check";
import { expect, it } from "vitest";
import { NOW, type TestRecord } from "../consumers/kinds/counting.ts";
import { timestamp } from "../consumers/kinds/support.ts";
import type { ActionsQuery, CounterPage } from "../../src/ports/counters.ts";
import { CountingStory, PARTITIONS } from "./counting-story.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Math.floor(NOW / DAY) * DAY - 2 * DAY;
const SUMMED = { namespace: undefined, fromMs: undefined, toMs: undefined, breakdown: false } as const;

/** What happens to a source; its readers are asked after each. */
type Turn<Event> =
  | { readonly turn: "count"; readonly partition: number; readonly events: readonly Event[] }
  | {
      readonly turn: "recount";
      readonly partition: number;
      readonly row: number;
      readonly delay: number;
      readonly stride: number;
    }
  | { readonly turn: "revise" };

function turnsOf<Event>(event: fc.Arbitrary<Event>): fc.Arbitrary<readonly Turn<Event>[]> {
  const partition = fc.nat({ max: PARTITIONS - 1 });
  const events = fc.array(event, { minLength: 1, maxLength: 5 });
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ turn: fc.constant("count" as const), partition, events }) },
      {
        weight: 3,
        arbitrary: fc.record({
          turn: fc.constant("recount" as const),
          partition,
          row: fc.nat({ max: 5 }),
          delay: fc.nat({ max: 14 }),
          stride: fc.constantFrom(1, 2, 12),
        }),
      },
      { weight: 1, arbitrary: fc.record({ turn: fc.constant("revise" as const) }) },
    ),
    { minLength: 2, maxLength: 14 },
  );
}

/** Plays the turns; `check` reads, while recounts go on, and is given every event so far. Returns the steps they took meanwhile. */
async function play<Event>(
  story: CountingStory,
  turns: readonly Turn<Event>[],
  recordOf: (event: Event) => TestRecord,
  check: (events: readonly Event[]) => Promise<void>,
): Promise<number> {
  const all: Event[] = [];
  for (const turn of turns) {
    if (turn.turn === "revise") story.revise();
    else if (turn.turn === "recount") await story.recount(turn.partition, turn.row, turn);
    else {
      await story.count(turn.partition, turn.events.map(recordOf));
      all.push(...turn.events);
    }
    await check(all);
  }
  return story.stepsTaken;
}

function total<Event>(events: readonly Event[], amountOf: (event: Event) => bigint): bigint {
  return events.reduce((sum, event) => sum + amountOf(event), 0n);
}

/** Reads to the end, whatever the pages. */
async function every<Item>(read: (cursor: string | undefined) => Promise<CounterPage<Item>>): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return items;
}

const beacon = fc.record({
  article: fc.constantFrom("a", "b"),
  metric: fc.constantFrom("view", "click"),
  at: fc.integer({ min: 0, max: 40 }).map((hour) => START + hour * HOUR + 1_234_567),
  count: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  visitor: fc.bigInt({ min: 1n, max: 5n }),
});

it("traffic is what its events say, while rows are counted again under other revisions", async () => {
  let steps = 0;
  await fc.assert(
    fc.asyncProperty(turnsOf(beacon), async (turns) => {
      const revisions = [{}, { visitors: false, slotWidthMs: 2 * HOUR }, { slotWidthMs: HOUR / 4 }];
      const story = await CountingStory.open("traffic", "ysearch.beacon", revisions);
      steps += await play(
        story,
        turns,
        ({ article, metric, at, count, visitor }) => ({
          key: article,
          value: [
            [1, article],
            [2, metric],
            [3, timestamp(at)],
            [4, { fixed64: visitor }],
            [5, count],
          ],
        }),
        async (events) => {
          const both = await story.reader.trafficOf(["a", "b"], { ...SUMMED, metric: undefined, by: "day" });
          for (const { key: article, items: spans } of both.items) {
            for (const metric of ["view", "click"]) {
              for (const day of [START, START + DAY]) {
                const of = events.filter(
                  (event) =>
                    event.article === article && event.metric === metric && Math.floor(event.at / DAY) * DAY === day,
                );
                const answered = spans.filter((span) => span.metric === metric && span.startMs === day);
                expect(answered.length).toBeLessThan(2);
                expect(answered[0]?.count ?? 0n).toBe(total(of, ({ count }) => count));
              }
            }
          }
        },
      );
    }),
    { numRuns: 40 },
  );
  expect(steps).toBeGreaterThan(100);
}, 20_000);

const action = fc.record({
  campaign: fc.constantFrom("c", "d"),
  article: fc.constantFrom("a", "b"),
  site: fc.constantFrom("", "s", "t"),
  click: fc.boolean(),
  at: fc.integer({ min: 0, max: 4 }).map((hour) => START + hour * HOUR),
  billionths: fc.option(fc.integer({ min: 0, max: 1_000_000_000 }), { nil: undefined }),
});
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

it("ad actions are what their events say, in every rollup and in calibration", async () => {
  let steps = 0;
  const revisions = [{ scoreEdges: [0.1, 0.5] }, { scoreEdges: [] }, { scoreEdges: [0.5] }];
  await fc.assert(
    fc.asyncProperty(turnsOf(action), async (turns) => {
      const story = await CountingStory.open("ad_actions", "ysearch.ad_action", revisions);
      steps += await play(story, turns, recordOfAction, async (events) => {
        for (const campaign of ["c", "d"]) {
          const own = events.filter((event) => event.campaign === campaign);
          for (const by of ["campaign", "article", "site", "placement", "hour"] as const) {
            const query: ActionsQuery = { ...SUMMED, campaign, by };
            const answered = await every((cursor) => story.reader.actions({ ...query, cursor }));
            expect(new Map(answered.map(({ member, impressions, clicks }) => [member, [impressions, clicks]]))).toEqual(
              tallyOf(own, by),
            );
          }
          const { calibration } = await story.reader.calibration(campaign, undefined, undefined);
          const scored = own.filter(({ billionths }) => billionths !== undefined);
          const predicted = total(scored, ({ click, billionths }) => (click ? 0n : BigInt(billionths ?? 0)));
          expect(calibration).toMatchObject({
            impressions: total(own, ({ click }) => (click ? 0n : 1n)),
            scoredClicks: total(scored, ({ click }) => (click ? 1n : 0n)),
            impressionScores: predicted,
          });
          const buckets = calibration.tables.flatMap((table) => table.buckets);
          expect(total(buckets, ({ predictedClicks }) => predictedClicks)).toBe(predicted);
        }
      });
    }),
    { numRuns: 25 },
  );
  expect(steps).toBeGreaterThan(100);
}, 20_000);

function recordOfAction({ campaign, article, site, click, at, billionths }: Action): TestRecord {
  const value = [
    [1, campaign],
    [2, article],
    [5, "p"],
    [6, click ? 2n : 1n],
    [8, timestamp(at)],
  ] as const;
  const known = site === "" ? [] : [[4, site] as const];
  const scored = billionths === undefined ? [] : [[7, { double: billionths / 1e9 }] as const];
  return { key: campaign, value: [...value, ...known, ...scored] };
}

function tallyOf(events: readonly Action[], by: "campaign" | "article" | "site" | "placement" | "hour") {
  const tally = new Map<string | number | undefined, [bigint, bigint]>();
  for (const event of events) {
    const member = { campaign: undefined, article: event.article, site: event.site, placement: "", hour: event.at }[by];
    const [impressions, clicks] = tally.get(member) ?? [0n, 0n];
    tally.set(member, event.click ? [impressions, clicks + 1n] : [impressions + 1n, clicks]);
  }
  return tally;
}
