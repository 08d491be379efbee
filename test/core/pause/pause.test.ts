import { describe, expect, it } from "vitest";
import { NO_PAUSES, ownPauseOf, type Pause, pauseOf, withPause } from "../../../src/core/pause/pause.ts";

const pause = (until: number | null): Pause => ({ reason: "disk", actor: "script", since: 1, until, audit: "0-0" });

describe("pauses", () => {
  it("of a source keep all its partitions, one of a partition keeps that one", () => {
    const all = withPause(NO_PAUSES, "source", pause(null), 10);
    expect([0, 7].map((partition) => pauseOf(all, partition, 10)?.by)).toEqual(["source", "source"]);
    const one = withPause(NO_PAUSES, 3, pause(null), 10);
    expect([2, 3].map((partition) => pauseOf(one, partition, 10)?.by)).toEqual([undefined, "partition"]);
  });

  it("end by themselves at `until`, and not before", () => {
    const until = withPause(NO_PAUSES, 3, pause(50), 10);
    expect([49, 50].map((now) => pauseOf(until, 3, now)?.by)).toEqual(["partition", undefined]);
  });

  it("of source and partition are independent: ending one leaves the other", () => {
    const both = withPause(withPause(NO_PAUSES, "source", pause(null), 1), 3, pause(null), 1);
    expect(pauseOf(withPause(both, "source", null, 1), 3, 1)?.by).toBe("partition");
    expect(pauseOf(withPause(both, 3, null, 1), 3, 1)?.by).toBe("source");
    expect(ownPauseOf(withPause(both, 3, null, 1), 3, 1)).toBeUndefined();
  });

  it("that have run out are dropped with the next change, so that the record stays small", () => {
    const old = withPause(withPause(NO_PAUSES, 1, pause(20), 1), 2, pause(null), 1);
    expect(withPause(old, 4, pause(null), 30).partitions.map(({ partition }) => partition)).toEqual([2, 4]);
  });

  it("set again replace the earlier one", () => {
    const again = withPause(withPause(NO_PAUSES, 1, pause(20), 1), 1, pause(null), 2);
    expect(again.partitions).toHaveLength(1);
    expect(pauseOf(again, 1, 100)?.until).toBeNull();
  });
});
