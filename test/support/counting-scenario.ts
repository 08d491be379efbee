import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ActionLoad, type ActionPlan } from "../../bench/support/ad-actions.ts";
import { BeaconLoad, type BeaconPlan } from "../../bench/support/beacons.ts";
import { actionDifferences, beaconDifferences, plannedBeacons, readBeacons } from "../../bench/support/counters.ts";
import type { Load } from "../../bench/support/load.ts";
import { familyOf } from "../../bench/support/processes.ts";
import { RawProducer } from "../../bench/support/raw-producer.ts";
import { withAdmin } from "../../local/broker/admin.ts";
import { committedOffsets, createTopic, deleteTopics, topicBounds } from "../../local/broker/topics.ts";
import { ServiceProcess } from "../../local/service/service-process.ts";
import { uniqueTopic } from "./broker.ts";
import { getPartitions, until } from "./http.ts";

const HOUR_SECONDS = 3_600;

/** One counting source with its topic, its producer and what is to come of it. */
interface Feed {
  readonly source: string;
  readonly topic: string;
  readonly group: string;
  readonly load: Load;
  readonly producer: RawProducer;
  /** Of beacons alone. */
  readonly plan?: BeaconPlan;
  readonly differences: (folder: string) => Promise<readonly string[]>;
}

/** What {@link openCounting} starts. */
export interface CountingOptions {
  readonly broker: string;
  readonly partitions: number;
  readonly beacons?: Omit<BeaconPlan, "fromSeconds">;
  readonly actions?: Omit<ActionPlan, "fromSeconds">;
  readonly limits?: Readonly<Record<string, unknown>>;
}

/** Counting sources on a service of their own, and producers whose records are known. */
export class CountingScenario {
  readonly service: ServiceProcess;
  readonly folder: string;
  readonly feeds: readonly Feed[];
  readonly #brokers: readonly string[];

  constructor(service: ServiceProcess, folder: string, feeds: readonly Feed[], broker: string) {
    this.service = service;
    this.folder = folder;
    this.feeds = feeds;
    this.#brokers = [broker];
  }

  /** Sends up to `records` more of every feed; false once all are sent. */
  async send(records: number): Promise<boolean> {
    const sent = await Promise.all(this.feeds.map(({ producer, load }) => producer.send(load, records)));
    return sent.some((count) => count > 0);
  }

  /** Waits until all that was produced is applied and committed. */
  async committed(deadlineMs = 300_000): Promise<void> {
    for (const { source, topic, group } of this.feeds) {
      const ends = await topicBounds(this.#brokers, topic);
      const read = async () => {
        const committed = await committedOffsets(this.#brokers, group, topic);
        const left = ends.filter(({ partition, end }) => end > 0 && committed.get(partition) !== end);
        if (left.length === 0) return [];
        // A stop ends the wait with its reason.
        const partitions = await getPartitions(this.service.url, source).catch(() => []);
        const stopped = partitions.find(({ observed }) => observed === "stopped");
        if (stopped !== undefined) throw new Error(`${source} stopped: ${JSON.stringify(stopped)}`);
        return left.map(({ partition, end }) => [partition, committed.get(partition), end]);
      };
      await until(read, (left) => left.length === 0, deadlineMs);
    }
  }

  /** Stops the service and compares every counter with what was produced, one line for each that differs. */
  async differences(): Promise<readonly string[]> {
    await this.service.stop();
    const found: string[] = [];
    for (const feed of this.feeds) found.push(...(await feed.differences(this.folder)));
    return found;
  }

  /** What the beacons' counters hold, and how many beacons were produced for each; the service must be stopped. */
  async beacons(): Promise<readonly { readonly counter: string; readonly held: bigint; readonly produced: bigint }[]> {
    const feed = this.feeds.find(({ plan }) => plan !== undefined);
    if (feed?.plan === undefined) throw new Error("the scenario has no beacons");
    const held = await readBeacons({ folder: this.folder, source: feed.source }, feed.plan);
    const produced = plannedBeacons(feed.plan);
    return [...new Set([...held.keys(), ...produced.keys()])].map((counter) => ({
      counter,
      held: held.get(counter) ?? 0n,
      produced: produced.get(counter) ?? 0n,
    }));
  }

  /** Moves the groups back to the starts of their logs; the service must be stopped. */
  async resetGroups(): Promise<void> {
    for (const { topic, group } of this.feeds) {
      const bounds = await topicBounds(this.#brokers, topic);
      const offsets = bounds.map(({ partition, logStart }) => ({ partition, offset: String(logStart) }));
      await withAdmin(this.#brokers, (admin) => admin.setOffsets({ groupId: group, topic, partitions: offsets }));
    }
  }

  /** SIGKILL of one owner's process, which the service starts again. */
  killOwner(): void {
    const [, ...owners] = familyOf(this.service.pid ?? process.pid);
    const owner = owners[Math.floor(Math.random() * owners.length)];
    if (owner !== undefined && this.service.pid !== undefined) process.kill(owner, "SIGKILL");
  }

  async close(): Promise<void> {
    for (const { producer } of this.feeds) producer.close();
    await this.service.kill();
    await deleteTopics(
      this.#brokers,
      this.feeds.map(({ topic }) => topic),
    );
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Creates the topics and starts the service on them. */
export async function openCounting(options: CountingOptions): Promise<CountingScenario> {
  const { broker, partitions, beacons, actions, limits } = options;
  const fromSeconds = Math.floor(Date.now() / 1_000 / HOUR_SECONDS) * HOUR_SECONDS - 24 * HOUR_SECONDS;
  const folder = await mkdtemp(join(tmpdir(), "ysearch-counting-"));
  const open = async (source: string, load: Load, differences: Feed["differences"]): Promise<Feed> => {
    const topic = uniqueTopic(source);
    await createTopic([broker], { topic, partitions });
    const producer = await RawProducer.connect({ broker, topic, partitions, batchBytes: 16_384 });
    return { source, topic, group: `ysearch-streams.${topic}`, load, producer, differences };
  };
  const feeds: Feed[] = [];
  if (beacons !== undefined) {
    const plan = { ...beacons, fromSeconds };
    const source = "traffic";
    const made = await open(source, new BeaconLoad(plan), (at) => beaconDifferences({ folder: at, source }, plan));
    feeds.push({ ...made, plan });
  }
  if (actions !== undefined) {
    const plan = { ...actions, fromSeconds };
    const source = "actions";
    feeds.push(await open(source, new ActionLoad(plan), (at) => actionDifferences({ folder: at, source }, plan)));
  }
  const sources = feeds.map(({ source, topic, group }) => ({
    name: source,
    kind: source === "traffic" ? "traffic" : "ad_actions",
    topic,
    group,
    namespace: source,
    descriptor: { subject: source === "traffic" ? "ysearch.beacon" : "ysearch.ad_action" },
  }));
  const config = { broker: { brokers: [broker] }, limits: { boundsEvery: "500ms", ...limits }, sources };
  const service = await ServiceProcess.start({ folder, config });
  return new CountingScenario(service, folder, feeds, broker);
}
