import { describe, expect, it } from "vitest";
import {
  type CountingSettings,
  DEFAULT_COUNTING,
  SCORE_EDGES_MAX,
  settingsFault,
} from "../../../src/core/counting/settings.ts";

describe("what decides the shape of slots", () => {
  it.each<[string, Partial<CountingSettings>, RegExp | undefined]>([
    ["the default", {}, undefined],
    ["slots of a minute", { slotWidthMs: 60_000 }, undefined],
    ["slots of a day", { slotWidthMs: 86_400_000 }, undefined],
    ["slots of less than a minute", { slotWidthMs: 30_000 }, /slot width/],
    ["slots of more than a day", { slotWidthMs: 172_800_000 }, /slot width/],
    ["slots that straddle days", { slotWidthMs: 25_200_000 }, /slot width/],
    ["slots of no width", { slotWidthMs: Number.NaN }, /slot width/],
    ["one bucket", { scoreEdges: [] }, undefined],
    ["edges at the bounds", { scoreEdges: [0, 0.5] }, /ascend/],
    ["an edge at 1", { scoreEdges: [0.5, 1] }, /ascend/],
    ["edges that do not ascend", { scoreEdges: [0.5, 0.5] }, /ascend/],
    ["an edge that is no number", { scoreEdges: [Number.NaN] }, /ascend/],
    [
      "too many edges",
      { scoreEdges: Array.from({ length: SCORE_EDGES_MAX + 1 }, (_, edge) => (edge + 1) / 1_000) },
      /more than/,
    ],
  ])("%s", (_name, change, fault) => {
    const found = settingsFault({ ...DEFAULT_COUNTING, ...change });
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(fault);
  });
});
