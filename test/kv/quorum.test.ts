import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  mergeAnswers,
  needsWriteBack,
  onAnswer,
  onLoss,
  readAnswersNeeded,
  readVerdict,
  startTally,
  writeVerdict,
} from "../../src/kv/quorum.ts";

const OWNERS = ["a", "b", "c"];
const numbers = (a: number, b: number): number => a - b;

describe("who counts", () => {
  it("asks enough owners to meet one of every acknowledged write", () => {
    expect([readAnswersNeeded(3, 2), readAnswersNeeded(3, 3), readAnswersNeeded(5, 3)]).toEqual([2, 1, 3]);
  });

  it("takes the acks of a lost owner along, and counts nobody twice, nor who was not asked", () => {
    let tally = startTally(["a", "b"]);
    tally = onAnswer(onAnswer(onAnswer(tally, "a"), "a"), "c");
    expect(tally).toEqual({ answered: ["a"], waiting: ["b"] });
    expect(writeVerdict(tally, 2)).toBe("pending");
    tally = onLoss(tally, "a");
    expect(tally).toEqual({ answered: [], waiting: ["b"] });
    expect(writeVerdict(tally, 2)).toBe("impossible");
    expect(onAnswer(tally, "a")).toEqual(tally);
  });

  it("reaches a verdict that follows from who answered and was not lost since, in any order", () => {
    const event = fc.record({ owner: fc.constantFrom(...OWNERS), lost: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event), fc.constantFrom(2, 3), (events, writeAcks) => {
        let tally = startTally(OWNERS);
        const lost = new Set<string>();
        const answered = new Set<string>();
        for (const { owner, lost: goes } of events) {
          tally = goes ? onLoss(tally, owner) : onAnswer(tally, owner);
          if (goes) lost.add(owner);
          else if (!lost.has(owner)) answered.add(owner);
        }
        const acks = [...answered].filter((owner) => !lost.has(owner));
        expect(tally.answered.toSorted()).toEqual(acks.toSorted());
        const possible = 3 - lost.size >= writeAcks;
        const expected = acks.length >= writeAcks ? "reached" : possible ? "pending" : "impossible";
        expect(writeVerdict(tally, writeAcks)).toBe(expected);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it("hears W owners where so many are up, and never fewer than R", () => {
    const of = (answered: number, waiting: number): ReturnType<typeof startTally> => ({
      answered: OWNERS.slice(0, answered),
      waiting: OWNERS.slice(answered, answered + waiting),
    });
    expect(readVerdict(of(1, 2), 2, 2)).toBe("pending");
    expect(readVerdict(of(2, 1), 2, 2)).toBe("reached");
    expect(readVerdict(of(2, 1), 2, 3)).toBe("pending");
    expect(readVerdict(of(2, 0), 2, 3)).toBe("reached");
    expect(readVerdict(of(1, 0), 2, 2)).toBe("impossible");
    expect(readVerdict(of(1, 1), 1, 3)).toBe("pending");
    expect(readVerdict(of(1, 0), 1, 3)).toBe("reached");
    expect(readVerdict(of(0, 0), 1, 3)).toBe("impossible");
  });
});

describe("what answers come to", () => {
  it("is the largest, with how many say just that; absent is below everything", () => {
    expect(mergeAnswers([1, 3, 2], numbers)).toEqual({ winner: 3, alike: 1 });
    expect(mergeAnswers([3, undefined, 3], numbers)).toEqual({ winner: 3, alike: 2 });
    expect(mergeAnswers([undefined, undefined], numbers)).toEqual({ winner: undefined, alike: 2 });
    expect(mergeAnswers([undefined, 0], numbers)).toEqual({ winner: 0, alike: 1 });
  });

  it("is written back where fewer than W are known to hold it, and an absence is not", () => {
    expect(needsWriteBack({ winner: 1, alike: 1 }, 2)).toBe(true);
    expect(needsWriteBack({ winner: 1, alike: 2 }, 2)).toBe(false);
    expect(needsWriteBack({ winner: 1, alike: 2 }, 3)).toBe(true);
    expect(needsWriteBack({ winner: undefined, alike: 1 }, 2)).toBe(false);
  });
});
