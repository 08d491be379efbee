import { describe, expect, it } from "vitest";
import { type Binding, bind, firstStartOf, rebind, topicEpochOf } from "../../../src/core/topic/binding.ts";
import { decideEpoch, type EpochPartition } from "../../../src/core/topic/epoch.ts";

const identity = (partitions: number, clusterId = "c1") => ({ clusterId, topic: "t", partitions });
const opener = { audit: "0-0", actor: "chief", reason: "why", at: 9 };
const partition = (index: number, copy: number | undefined, end: number): EpochPartition => ({
  partition: index,
  stop: undefined,
  copy: copy === undefined ? undefined : { watermark: copy, fingerprint: undefined, logStartSeen: 0 },
  startsAt: undefined,
  bounds: { logStart: 0, end },
});

/** A source that began with 4 partitions and grew to 16. */
function grown(): Binding {
  const result = rebind(bind(identity(4), "earliest", 1), identity(16));
  if (result.outcome !== "grown") throw new Error("4 to 16 is a growth");
  return result.binding;
}

function refused(binding: Binding, partitions: number): Binding {
  const result = rebind(binding, identity(partitions));
  if (result.outcome !== "stop") throw new Error("refused");
  return result.binding;
}

describe("a topic epoch for another log", () => {
  const stop = { code: "TOPIC_RECREATED", detail: "x" } as const;

  it("begins all partitions anew at the log's start, and gives up what was never read", () => {
    const old = [partition(0, 50, 7), partition(1, 30, 0), partition(2, undefined, 0), partition(3, 9, 9)];
    const decision = decideEpoch(bind(identity(4), "earliest", 1), identity(4), old, opener);
    if (decision.decision !== "open") throw new Error(decision.decision);
    const { binding } = decision;
    expect([decision.epoch, topicEpochOf(binding, 3), binding.log, binding.refused]).toEqual([1, 1, 1, undefined]);
    expect(firstStartOf(binding, 0, 3)).toEqual({ at: 3 });
    expect(binding.opened?.givenUp.map(({ partition: index, topicEpoch, from }) => [index, topicEpoch, from])).toEqual([
      [0, 0, 50],
      [1, 0, 30],
      [2, 0, 0],
      [3, 0, 9],
    ]);
    expect(rebind(binding, identity(4))).toEqual({ outcome: "unchanged" });
  });

  it("keeps the order in which partitions grew, so that a moved key stays newer when all is read again", () => {
    const all = Array.from({ length: 16 }, (_unused, index) => partition(index, 9, index === 0 ? 5 : 9));
    const decision = decideEpoch(grown(), identity(16), all, opener);
    if (decision.decision !== "open") throw new Error(decision.decision);
    expect([0, 3, 4, 15].map((index) => topicEpochOf(decision.binding, index))).toEqual([2, 2, 3, 3]);
    const smaller = decideEpoch(grown(), identity(2), [{ ...partition(0, 9, 0), stop }, partition(1, 9, 0)], opener);
    if (smaller.decision !== "open") throw new Error(smaller.decision);
    expect(smaller.binding.epochs).toEqual([{ epoch: 2, partitions: 2 }]);
  });

  it("is told by another cluster, by a stop, or by what the bounds deny; otherwise it is not needed", () => {
    const fine = [partition(0, 9, 9), partition(1, 5, 9)];
    const binding = bind(identity(2), "earliest", 1);
    expect(decideEpoch(binding, identity(2), fine, opener).decision).toBe("not-needed");
    expect(decideEpoch(binding, identity(2, "c2"), fine, opener).decision).toBe("open");
    for (const code of ["TOPIC_RECREATED", "COMMIT_VANISHED", "ABOVE_LOG_END", "OFFSET_LIMIT"] as const) {
      const stopped = [{ ...partition(0, 9, 9), stop: { code, detail: "x" } }, partition(1, 5, 9)];
      expect(decideEpoch(binding, identity(2), stopped, opener).decision, code).toBe("open");
    }
    const poison = [{ ...partition(0, 9, 9), stop: { code: "POISON", detail: "x" } as const }];
    expect(decideEpoch(binding, identity(2), poison, opener).decision).toBe("not-needed");
  });

  it("runs out", () => {
    const last: Binding = { ...bind(identity(1), "earliest", 1), epochs: [{ epoch: 1_023, partitions: 1 }] };
    expect(decideEpoch(last, identity(1), [{ ...partition(0, 9, 9), stop }], opener).decision).toBe("exhausted");
  });
});

describe("a topic epoch for a growth that moved keys between old partitions", () => {
  const binding = refused(bind(identity(4), "earliest", 1), 6);

  it("asks for old partitions that are read to their end", () => {
    const begun = { ...partition(2, undefined, 4), startsAt: 3 };
    const all = [partition(0, 9, 9), partition(1, 5, 9), begun, partition(3, undefined, 2)];
    expect(decideEpoch(binding, identity(6), all, opener)).toEqual({
      decision: "not-read",
      behind: [
        { partition: 1, applied: 5, end: 9, resumeFrom: "copy" },
        { partition: 2, applied: undefined, end: 4, resumeFrom: 3 },
        { partition: 3, applied: undefined, end: 2, resumeFrom: "log-start" },
      ],
    });
  });

  it("goes on there with old ones, at their start with new ones, all newer than what was read before", () => {
    const ends = [9, 5, 0, 7];
    const all = [
      ...ends.map((end, index) => partition(index, end, end)),
      partition(4, undefined, 3),
      partition(5, undefined, 0),
    ];
    const decision = decideEpoch(binding, identity(6), all, opener);
    if (decision.decision !== "open") throw new Error(decision.decision);
    const opened = decision.binding;
    expect(ends.map((_end, index) => firstStartOf(opened, index, 0))).toEqual(ends.map((at) => ({ at })));
    expect(firstStartOf(opened, 4, 1)).toEqual({ at: 1 });
    expect([0, 5].map((index) => topicEpochOf(opened, index))).toEqual([1, 1]);
    expect([opened.refused, opened.opened?.givenUp]).toEqual([undefined, []]);
    expect(rebind(opened, identity(6))).toEqual({ outcome: "unchanged" });
    expect(rebind(opened, identity(12)).outcome).toBe("grown");
  });

  it("is one for another log when an old partition lost what was applied: the topic was re-created larger", () => {
    const all = [partition(0, 9, 2), partition(1, 5, 5), partition(2, 1, 1), partition(3, 1, 1)];
    const decision = decideEpoch(binding, identity(6), all, opener);
    if (decision.decision !== "open") throw new Error(decision.decision);
    expect([decision.binding.goOnAt, topicEpochOf(decision.binding, 0), topicEpochOf(decision.binding, 5)]).toEqual([
      undefined,
      1,
      2,
    ]);
  });
});
