import { describe, expect, it } from "vitest";
import { bind, firstStartOf, rebind, topicEpochOf } from "../../../src/core/topic/binding.ts";

const identity = { clusterId: "c", topic: "articles", partitions: 4 };
const bound = bind(identity, "latest", 1_000);

describe("the binding of a source", () => {
  it("fixes latest to one moment", () => {
    expect(bound.firstStart).toEqual({ timestampMs: 1_000 });
    expect(firstStartOf(bound, 3, 7)).toEqual({ timestampMs: 1_000 });
  });

  it("a partition that appeared later starts at its log start", () => {
    expect(firstStartOf(bound, 4, 7)).toEqual({ at: 7 });
  });

  it("another cluster or topic stops", () => {
    expect(rebind(bound, { ...identity, clusterId: "d" })).toMatchObject({ stop: { code: "IDENTITY_CHANGED" } });
    expect(rebind(bound, { ...identity, topic: "x" })).toMatchObject({ stop: { code: "IDENTITY_CHANGED" } });
  });

  it("growing to a multiple opens the next topic epoch for the new partitions only", () => {
    const grown = rebind(bound, { ...identity, partitions: 16 });
    if (grown.outcome !== "grown") throw new Error("expected growth");
    expect(topicEpochOf(grown.binding, 3)).toBe(0);
    expect(topicEpochOf(grown.binding, 4)).toBe(1);
    expect(topicEpochOf(grown.binding, 15)).toBe(1);
    expect(topicEpochOf(grown.binding, 16)).toBeUndefined();
  });

  it.each([6, 3, 0])("%i partitions stop: keys would move between old partitions", (partitions) => {
    expect(rebind(bound, { ...identity, partitions })).toMatchObject({ stop: { code: "PARTITIONS_CHANGED" } });
  });
});
