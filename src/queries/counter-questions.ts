import { actionKey, articleRange, hourRange, rollupRange, slotRange, trafficRange } from "../core/counting/keys.ts";
import { actionsBy, spanStart, type SlotName, trafficBy } from "../core/counting/reading.ts";
import { invariant } from "../core/invariant.ts";
import type { ActionCount, ActionsQuery, SlotShare, TrafficCount, TrafficQuery } from "../ports/counters.ts";
import type { CounterScan, NamedSlot } from "./counter-scan.ts";
import type { SourceOfKind } from "./source-of-kind.ts";

/** A question about counters: which slots answer it, how, and its text, by which cursors know it. */
export interface CounterQuestion<Item> {
  readonly scan: Omit<CounterScan<Item>, "rows" | "start" | "groupsMax" | "budget">;
  readonly text: string;
}

/** A question about an article, once it is known which source answers it. */
export type TrafficAsked = Omit<TrafficQuery, "namespace" | "cursor">;
/** The same about a campaign. */
export type ActionsAsked = Omit<ActionsQuery, "namespace" | "cursor">;

/** Before and after every moment that a key can hold. */
const MOMENT_MAX = 2 ** 52 - 1;

/** Traffic of an article. Without a metric, what lies outside of the span is jumped over, metric by metric. */
export function trafficQuestion(
  { namespace, source }: SourceOfKind,
  { article, metric, by, breakdown, fromMs = -MOMENT_MAX, toMs = MOMENT_MAX }: TrafficAsked,
): CounterQuestion<TrafficCount> {
  const spanOf = (found: string) => trafficRange(namespace, article, found, fromMs, toMs);
  return {
    text: JSON.stringify([source, by, metric, fromMs, toMs]),
    scan: {
      range: metric === undefined ? articleRange(namespace, article) : spanOf(metric),
      groupOf: (name) => {
        const { metric: found, startMs } = ofTraffic(name);
        return startMs < fromMs || startMs >= toMs ? undefined : `${spanStart(by, startMs)} ${found}`;
      },
      skipTo: (name) => {
        const { metric: found, startMs } = ofTraffic(name);
        return startMs < fromMs ? spanOf(found).from : trafficRange(namespace, article, found, 0, MOMENT_MAX).to;
      },
      itemsOf: (slots) => {
        const named = slots.map((slot) => ({ ...slot, ...ofTraffic(slot.name) }));
        const spans = trafficBy(by, named);
        const shares = breakdown ? { slots: named.map((slot) => ({ ...shareOf(slot), startMs: slot.startMs })) } : {};
        return spans.map((span) => ({ metric: named[0]?.metric ?? "", ...span, ...shares }));
      },
    },
  };
}

/** Ad actions of a campaign. */
export function actionsQuestion(
  { namespace, source }: SourceOfKind,
  { campaign, by, breakdown, fromMs = -MOMENT_MAX, toMs = MOMENT_MAX }: ActionsAsked,
): CounterQuestion<ActionCount> {
  const range =
    by === "campaign"
      ? slotRange(actionKey(namespace, campaign, "campaign", undefined))
      : by === "hour"
        ? hourRange(namespace, campaign, fromMs, toMs)
        : rollupRange(namespace, campaign, by);
  return {
    text: JSON.stringify([source, by, fromMs, toMs]),
    scan: {
      range,
      groupOf: (name) => `${memberOf(name) ?? ""}`,
      itemsOf: (slots) => {
        const member = slots[0] === undefined ? undefined : memberOf(slots[0].name);
        const totals = actionsBy(slots.map(({ counters }) => ({ counters, member: member ?? "" })));
        const shares = breakdown ? { slots: slots.map((slot) => shareOf(slot)) } : {};
        return totals.map((sum) => ({ ...sum, member, ...shares }));
      },
    },
  };
}

/** The member that a slot of ad actions counts; undefined for the campaign itself. */
export function memberOf(name: SlotName): string | number | undefined {
  invariant(name.kind === "actions", "SLOT_KEY", "a slot of another kind among those of ad actions");
  return name.member;
}

function ofTraffic(name: SlotName): { readonly metric: string; readonly startMs: number } {
  invariant(name.kind === "traffic", "SLOT_KEY", "a slot of another kind among those of traffic");
  return { metric: name.metric, startMs: name.startMs };
}

function shareOf({ owner, row, offset, counters, visitors }: NamedSlot): SlotShare {
  return {
    partition: owner.partition,
    log: owner.log,
    row: owner.row,
    from: row.from,
    until: row.until,
    revision: row.revision,
    offset,
    counters,
    ...(visitors === undefined ? {} : { visitors: visitors.estimate() }),
  };
}
