import { describe, expect, it } from "vitest";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { FakeControlPlane } from "../routes/support/fake-control-plane.ts";

describe("GET /metrics says the same as REST", () => {
  it("has one series per partition, owner and state, and no number for what is unknown", async () => {
    const controlPlane = new FakeControlPlane();
    const { text, contentType } = await createMetrics(controlPlane)();
    expect(contentType).toMatch(/^text\/plain/);
    const lag = controlPlane.lag.all().partitions;
    const loss = { known: false, cause: "no-retention" } as const;
    for (const { source, partition, records } of lag) {
      const line = `ysearch_streams_lag_records{source="${source}",partition="${partition}"}`;
      if (records.known) expect(text).toContain(`${line} ${records.value}`);
      else expect(text).not.toContain(line);
    }
    expect(text).toContain('ysearch_streams_time_to_loss_seconds{source="articles",partition="0"} 86400');
    const without = { ...controlPlane.lag.all(), partitions: lag.map((row) => ({ ...row, timeToLossSeconds: loss })) };
    const metrics = createMetrics({
      sources: controlPlane.sources,
      owners: controlPlane.owners,
      jobs: controlPlane.jobs,
      lag: { all: () => without, ofSource: () => without },
    });
    expect((await metrics()).text).not.toContain("time_to_loss_seconds{");
    for (const { owner, state } of controlPlane.owners.owners()) {
      expect(text).toContain(`ysearch_streams_owner_state{owner="${owner}",state="${state}"} 1`);
    }
  });

  it("series of what is gone end at the next scrape", async () => {
    const controlPlane = new FakeControlPlane();
    let owners = controlPlane.owners.owners();
    const changing = { ...controlPlane.owners, owners: () => owners };
    const metrics = createMetrics({
      sources: controlPlane.sources,
      lag: controlPlane.lag,
      owners: changing,
      jobs: controlPlane.jobs,
    });
    const [first] = owners;
    expect((await metrics()).text).toContain(`owner="${first?.owner ?? "?"}"`);
    owners = [];
    expect((await metrics()).text).not.toContain(`owner="${first?.owner ?? "?"}"`);
  });

  it("counts jobs where they run, queued ones everywhere, with why they wait and how old the oldest is", async () => {
    const controlPlane = new FakeControlPlane();
    const metrics = createMetrics(controlPlane);
    const lines = async () =>
      (await metrics()).text.split("\n").filter((line) => /^ysearch_streams_jobs?_?/.test(line));
    const read = "ysearch_streams_job_records_read_total";
    expect((await lines()).toSorted()).toEqual([
      `${read}{kind="recount"} 0`,
      `${read}{kind="redrive"} 0`,
      `${read}{kind="replay"} 12`,
      `${read}{kind="trial"} 0`,
      'ysearch_streams_jobs_oldest_seconds{kind="redrive"} 70',
      'ysearch_streams_jobs_oldest_seconds{kind="replay"} 90',
      'ysearch_streams_jobs_waiting{source="articles",kind="replay",code="YIELDING"} 1',
      'ysearch_streams_jobs{source="articles",kind="replay",state="queued"} 1',
      'ysearch_streams_jobs{source="articles",kind="replay",state="running"} 2',
    ]);
    controlPlane.jobs.stands = { unfinished: [], recordsRead: new Map() };
    expect((await lines()).filter((line) => !line.startsWith(read))).toEqual([]);
  });

  it("a source that never came up has a state, its consumer too, and a cause for its unknown lag", async () => {
    const controlPlane = new FakeControlPlane();
    const { text } = await createMetrics(controlPlane)();
    expect(text).toContain('ysearch_streams_lag_unknown_partitions{source="bids",cause="topic-missing"} 1');
    for (const { name, observed } of controlPlane.sources.list()) {
      expect(text).toContain(`ysearch_streams_source_state{source="${name}",state="${observed}"} 1`);
      expect(text).toContain(`ysearch_streams_consumer_state{source="${name}",state="backing-off"}`);
      expect(text).toContain(`ysearch_streams_dead_letters_total{source="${name}",code="DECODE_TRUNCATED"} 1`);
    }
  });

  it("after a partition is gone no series names it, whatever it had before", async () => {
    const controlPlane = new FakeControlPlane();
    let gone = false;
    const rest = ({ partition }: { readonly partition: number }) => !gone || partition === 0;
    const list = controlPlane.sources;
    const sources: typeof list = {
      list: () => list.list(),
      get: (name) => list.get(name),
      definition: (name) => list.definition(name),
      partition: (...which) => list.partition(...which),
      partitions: (name) => list.partitions(name).filter(rest),
    };
    const lag = {
      all: () => ({ ...controlPlane.lag.all(), partitions: controlPlane.lag.all().partitions.filter(rest) }),
      ofSource: (name: string) => controlPlane.lag.ofSource(name),
    };
    const metrics = createMetrics({ sources, lag, owners: controlPlane.owners, jobs: controlPlane.jobs });
    expect((await metrics()).text).toContain('partition="1"');
    gone = true;
    expect((await metrics()).text).not.toContain('partition="1"');
  });

  it("leaves to another member of the group what that one reads, and reports all that is known while out of the group", async () => {
    const controlPlane = new FakeControlPlane();
    const [partition] = controlPlane.sources.partitions("articles");
    let state = "joined";
    const sources = {
      ...controlPlane.sources,
      list: () => controlPlane.sources.list().map((source) => ({ ...source, consumer: { ...source.consumer, state } })),
      partitions: (name: string) =>
        name === "articles" && partition !== undefined ? [{ ...partition, observed: "unassigned" as const }] : [],
    };
    const metrics = createMetrics({
      sources,
      lag: controlPlane.lag,
      owners: controlPlane.owners,
      jobs: controlPlane.jobs,
    });
    const line = `_state{source="articles",partition="${partition?.partition ?? "?"}"`;
    expect((await metrics()).text).not.toContain(line);
    state = "backing-off";
    expect((await metrics()).text).toContain(line);
  });
});
