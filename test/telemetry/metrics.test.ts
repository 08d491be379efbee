import { describe, expect, it } from "vitest";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { FakeControlPlane } from "../routes/support/fake-control-plane.ts";

describe("GET /metrics says the same as REST", () => {
  it("has one series per partition, owner and state, and no number for what is unknown", async () => {
    const controlPlane = new FakeControlPlane();
    const { text, contentType } = await createMetrics(controlPlane)();
    expect(contentType).toMatch(/^text\/plain/);
    const lag = controlPlane.lag.all().partitions;
    for (const { source, partition, records } of lag) {
      const line = `ysearch_streams_lag_records{source="${source}",partition="${partition}"}`;
      if (records.known) expect(text).toContain(`${line} ${records.value}`);
      else expect(text).not.toContain(line);
    }
    for (const { owner, state } of controlPlane.owners.owners()) {
      expect(text).toContain(`ysearch_streams_owner_state{owner="${owner}",state="${state}"} 1`);
    }
  });

  it("series of what is gone end at the next scrape", async () => {
    const controlPlane = new FakeControlPlane();
    let owners = controlPlane.owners.owners();
    const { health, sources, lag, documents } = controlPlane;
    const changing = { ...controlPlane.owners, owners: () => owners };
    const metrics = createMetrics({ health, sources, lag, documents, owners: changing });
    const [first] = owners;
    expect((await metrics()).text).toContain(`owner="${first?.owner ?? "?"}"`);
    owners = [];
    expect((await metrics()).text).not.toContain(`owner="${first?.owner ?? "?"}"`);
  });
});
