import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import type { ListedRow, SlotName } from "../../src/core/counting/reading.ts";
import { readSlotKey } from "../../src/core/counting/reading.ts";
import { ACTION_KEYS, keyPrefix, TRAFFIC_KEYS } from "../../src/core/counting/keys.ts";
import { decodeSlot, type Slot } from "../../src/core/counting/slot.ts";
import { openEmbeddedPlane } from "../../src/kv/embedded/open.ts";
import type { KvPlane } from "../../src/ports/kv-plane.ts";
import type { Logger } from "../../src/ports/logger.ts";
import { ActionLoad, type ActionPlan, memberId } from "./ad-actions.ts";
import { articleId, BeaconLoad, type BeaconPlan } from "./beacons.ts";

/** Reads counters where they are stored, with no service running, and compares them with what a plan says. */

const PAGE = 4_096;
const SCORE_SCALE = 1_000_000;

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, text) => console.error(text, fields),
  child: () => quiet,
};

/** Whose data are looked at: the folder of a service, and its source's name, which is its namespace, too. */
export interface CountersAt {
  readonly folder: string;
  readonly source: string;
}

/** What the beacons' counters hold, by article, metric and hour of the plan. */
export async function readBeacons(at: CountersAt, plan: BeaconPlan): Promise<ReadonlyMap<string, bigint>> {
  const found = new Map<string, bigint>();
  await eachSlot(at, TRAFFIC_KEYS, (name, { counters: [count = 0n] }) => {
    if (name.kind !== "traffic") return;
    const hour = (name.startMs / 1_000 - plan.fromSeconds) / 3_600;
    const counter = `${name.article} ${name.metric} ${hour}`;
    found.set(counter, (found.get(counter) ?? 0n) + count);
  });
  return found;
}

/** How many beacons of a plan count into each counter, by the names of {@link readBeacons}. */
export function plannedBeacons(plan: BeaconPlan): ReadonlyMap<string, bigint> {
  const { metrics, hours } = plan;
  const planned = new Map<string, bigint>();
  for (const [counter, total] of BeaconLoad.totals(plan).entries()) {
    const article = articleId(Math.floor(counter / (metrics.length * hours)));
    const metric = metrics[Math.floor(counter / hours) % metrics.length] ?? "";
    if (total > 0) planned.set(`${article} ${metric} ${counter % hours}`, BigInt(total));
  }
  return planned;
}

/** Differences between beacons' counters and their plan, one line each; empty: every counter is exact, and there is no other. */
export async function beaconDifferences(at: CountersAt, plan: BeaconPlan): Promise<readonly string[]> {
  return differences(await readBeacons(at, plan), plannedBeacons(plan));
}

/** The same of ad actions: impressions and clicks of every rollup, and the sums of the scores of the pairs. */
export async function actionDifferences(at: CountersAt, plan: ActionPlan): Promise<readonly string[]> {
  const found = new Map<string, bigint>();
  const add = (map: Map<string, bigint>, name: string, value: bigint): void => {
    if (value !== 0n) map.set(name, (map.get(name) ?? 0n) + value);
  };
  await eachSlot(at, ACTION_KEYS, (name, { counters }) => {
    if (name.kind !== "actions") return;
    const member =
      typeof name.member === "number" ? (name.member / 1_000 - plan.fromSeconds) / 3_600 : (name.member ?? "");
    const counter = `${name.campaign} ${name.rollup} ${member}`;
    for (const [value, label] of ["impressions", "clicks", "impression scores", "click scores"].entries()) {
      add(found, `${counter} ${label}`, counters[value] ?? 0n);
    }
  });
  const wanted = new Map<string, bigint>();
  ActionLoad.replay(plan, ({ campaign, article, placement, site, publisher, click, score, hour }) => {
    const members = {
      campaign: "",
      article: memberId("a", article),
      placement: memberId("p", placement),
      site: memberId("s", site),
      publisher: memberId("b", publisher),
      hour: String(hour),
    };
    const counted = click ? "click" : "impression";
    for (const [rollup, member] of Object.entries(members)) {
      add(wanted, `${memberId("c", campaign)} ${rollup} ${member} ${counted}s`, 1n);
    }
    if (score === undefined) return;
    const pair = `${memberId("c", campaign)} article ${members.article} ${counted} scores`;
    add(wanted, pair, BigInt(score * SCORE_SCALE));
  });
  return differences(found, wanted);
}

function differences(found: ReadonlyMap<string, bigint>, wanted: ReadonlyMap<string, bigint>): readonly string[] {
  const lines: string[] = [];
  for (const [counter, total] of wanted) {
    const count = found.get(counter) ?? 0n;
    if (count !== total) lines.push(`${counter}: ${count}, and ${total} were produced`);
  }
  for (const [counter, count] of found) {
    if (!wanted.has(counter)) lines.push(`${counter}: ${count}, and nothing was produced`);
  }
  return lines;
}

/** Calls `take` for every slot of the source that readers sum. */
async function eachSlot(
  { folder, source }: CountersAt,
  kind: number,
  take: (name: SlotName, slot: Slot) => void,
): Promise<void> {
  const [a = "", b = "", c = ""] = ["a", "b", "c"].map((owner) => join(folder, "data", owner));
  const plane = await openEmbeddedPlane({ directories: [a, b, c], writeAcks: 2, clock: systemClock, logger: quiet });
  try {
    const listed = new Set((await listedRows(plane, source)).map(rowName));
    const { bytes: from } = keyPrefix(source, kind);
    const to = from.slice();
    to[to.length - 1] = kind + 1;
    for (let next: Uint8Array | undefined = from; next !== undefined;) {
      const page = await plane.scan({ space: "slot", from: next, to, limit: PAGE });
      for (const cell of page.cells) {
        const name = readSlotKey(cell.key);
        if (listed.has(rowName(name.owner))) take(name, decodeSlot(cell));
      }
      next = page.next;
    }
  } finally {
    await plane.close();
  }
}

function rowName({ partition, log, row }: ListedRow): string {
  return `${partition}/${log}/${row}`;
}

/** The rows that readers sum, of the source's first log, as its ledgers have them. */
async function listedRows(plane: KvPlane, source: string): Promise<readonly ListedRow[]> {
  const names = await plane.control.list(`ledgers/${source}/`);
  const rows = await Promise.all(
    names.map(async (name): Promise<readonly ListedRow[]> => {
      const partition = Number(name.split("/").at(-1));
      const record = await plane.control.read(name);
      const { listed } = JSON.parse(Buffer.from(record?.value ?? "{}").toString()) as {
        readonly listed?: readonly number[];
      };
      return (listed ?? []).map((row) => ({ partition, log: 0, row }));
    }),
  );
  return rows.flat();
}
