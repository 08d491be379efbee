import type { ExplainKeyView, ExplainQueries, ExplainView } from "../../../src/ports/explain.ts";

const CELL = { topicEpoch: 0, partition: 1, offset: 9, revision: 2, descriptorVersion: 1, state: "live" } as const;

/** One explained record, and what was asked. */
export class FakeExplain implements ExplainQueries {
  readonly asked: (readonly unknown[])[] = [];
  failure: Error | undefined;
  view: ExplainView = {
    source: "articles",
    partition: 0,
    offset: 12,
    topicEpoch: 0,
    verdict: "superseded",
    bounds: { logStart: 0, end: 20 },
    applied: 15,
    record: {
      timestampMs: 1_000,
      key: Buffer.from("secret-key"),
      valueBytes: 20,
      judged: {
        row: 1,
        revision: 2,
        descriptorVersion: 1,
        outcome: { outcome: "put" },
        inputs: [
          { name: "id", type: "text", value: "secret-input" },
          { name: "count", type: "integer", value: 9_007_199_254_740_993n },
          { name: "raw", type: "bytes", value: Uint8Array.of(255) },
          { name: "at", type: "time", value: 0 },
          { name: "far", type: "time", value: -5 },
          { name: "none", type: "flag", value: undefined },
          { name: "long", type: "text", value: "x".repeat(1_001) },
        ],
        body: { format: "json", bytes: Buffer.from('{"a":"secret-body"}') },
        unknownFields: [{ path: "3.7", count: 2 }],
      },
    },
    supersededBy: CELL,
    gaps: ["articles/0/0-1"],
    owners: [
      { owner: "a", answer: "holds", cell: CELL },
      { owner: "b", answer: "unavailable" },
    ],
    asOf: 5_000,
  };

  record(...asked: readonly unknown[]): Promise<ExplainView> {
    this.asked.push(asked);
    return this.failure === undefined ? Promise.resolve(this.view) : Promise.reject(this.failure);
  }

  key(...asked: readonly unknown[]): Promise<ExplainKeyView> {
    this.asked.push(asked);
    const looked = [{ partition: 0, from: 4, to: 20, whole: false }];
    return Promise.resolve({ source: "articles", records: [this.view], ended: "time", looked, asOf: 5_000 });
  }
}
