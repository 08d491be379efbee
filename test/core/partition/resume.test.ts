import { describe, expect, it } from "vitest";
import type { Copy } from "../../../src/core/partition/copy.ts";
import { decideResume, type ResumeFacts, type ResumeRequest } from "../../../src/core/partition/resume.ts";
import { decideStart, type StartFacts, type StartRecord, toleratedCommit } from "../../../src/core/partition/start.ts";
import type { StopCode } from "../../../src/core/partition/stop.ts";

const print = (offset: number) => ({ offset, timestampMs: 5, hash: "aa" });
const copyAt = (watermark: number): Copy => ({ watermark, fingerprint: print(watermark - 1), logStartSeen: 0 });
const start = (more: Partial<StartFacts>): StartFacts => ({
  startRecord: undefined,
  committed: 100,
  copy: copyAt(100),
  bounds: { logStart: 0, end: 1_000 },
  ...more,
});

function facts(code: StopCode, facts_: Partial<StartFacts>, more: Partial<ResumeFacts> = {}): ResumeFacts {
  return { stop: { code, detail: "why" }, reach: 120, start: start(facts_), sourceStop: undefined, old: true, ...more };
}

const decide = (given: ResumeFacts, request: Partial<ResumeRequest>) =>
  decideResume(given, { from: "committed", ...request });

/** The decision that the next life takes once the resumption is stored. */
function next(given: ResumeFacts, request: Partial<ResumeRequest>, then: Partial<StartFacts> = {}) {
  const decision = decide(given, request);
  if (decision.decision !== "resume") return decision;
  return decideStart({ ...given.start, startRecord: decision.start, ...then });
}

describe("a resumption that loses nothing", () => {
  it.each<[StopCode, Partial<StartFacts>, ResumeRequest["from"], number]>([
    ["OFFSET_DISPUTED", {}, "committed", 100],
    ["POISON", {}, "committed", 100],
    ["UNDECODABLE_BATCH", {}, "committed", 100],
    ["BATCH_TOO_LARGE", {}, "copy", 100],
    ["INVARIANT_BROKEN", { committed: 80 }, "committed", 80],
    ["COMMIT_MOVED", { committed: 900 }, "copy", 100],
    ["COMMIT_VANISHED", { committed: undefined }, "copy", 100],
    ["KV_COPY_MISSING", { committed: 900, copy: undefined }, "log-start", 0],
    ["TOPIC_RECREATED", { committed: undefined }, "copy", 100],
    ["ABOVE_LOG_END", {}, "copy", 100],
  ])("of %s starts where it was asked to", (code, given, from, at) => {
    expect(decide(facts(code, given), { from })).toMatchObject({ decision: "resume", passedOver: [] });
    expect(next(facts(code, given), { from })).toMatchObject({ decision: "start", at });
  });

  it("recognises the log again where it goes on from its copy", () => {
    expect(next(facts("COMMIT_VANISHED", { committed: undefined }), { from: "copy" })).toMatchObject({
      verify: { fingerprint: print(99), ifAbsent: "go-on" },
    });
  });
});

describe("a resumption that passes over data", () => {
  const retained = facts("BELOW_LOG_START", { bounds: { logStart: 500, end: 1_000 } });

  it("is refused with the range as it is now, unless the accepted range covers it", () => {
    const lost = { decision: "loss", lost: { from: 100, to: 500 } };
    expect(decide(retained, { from: "log-start" })).toEqual(lost);
    expect(decide(retained, { from: "log-start", acceptLoss: { from: 100, toMax: 499 } })).toEqual(lost);
    expect(decide(retained, { from: "log-start", acceptLoss: { from: 101, toMax: 900 } })).toEqual(lost);
    expect(decide(retained, { from: "log-start", acceptLoss: { from: 100, toMax: 700 } })).toMatchObject({
      decision: "resume",
      passedOver: [{ from: 100, to: 500, cause: "lost" }],
    });
  });

  it("tells what the log no longer held from what was skipped", () => {
    expect(decide(retained, { from: 600, acceptLoss: { from: 0, toMax: 600 } })).toMatchObject({
      passedOver: [
        { from: 100, to: 500, cause: "lost" },
        { from: 500, to: 600, cause: "skipped" },
      ],
    });
  });

  it("of a commit that somebody moved is the part that was never applied", () => {
    const moved = facts("COMMIT_MOVED", { committed: 900 });
    expect(decide(moved, { from: "committed" })).toEqual({ decision: "loss", lost: { from: 100, to: 900 } });
  });

  it("without a copy is everything that the log holds below `from`", () => {
    const missing = facts("KV_COPY_MISSING", { committed: 900, copy: undefined, bounds: { logStart: 50, end: 1_000 } });
    expect(decide(missing, { from: "committed" })).toEqual({ decision: "loss", lost: { from: 50, to: 900 } });
  });

  it("does not count what an earlier resumption passed over", () => {
    const startRecord: StartRecord = { from: 500, before: 100, copyBefore: 100, settled: false, reach: 120 };
    const again = facts("BELOW_LOG_START", { startRecord, bounds: { logStart: 700, end: 1_000 } });
    expect(decide(again, { from: "log-start" })).toEqual({ decision: "loss", lost: { from: 500, to: 700 } });
  });
});

describe("a resumption that cannot be", () => {
  it("outside the log is refused with the bounds; the end itself is legal", () => {
    const given = facts("POISON", { bounds: { logStart: 90, end: 1_000 } });
    expect(decide(given, { from: 89 })).toEqual({ decision: "outside", wanted: 89, what: "from" });
    expect(decide(given, { from: 1_001 })).toMatchObject({ decision: "outside", wanted: 1_001 });
    expect(decide(given, { from: 1_000, acceptLoss: { from: 0, toMax: 5_000 } })).toMatchObject({ decision: "resume" });
    expect(decide(facts("BELOW_LOG_START", { bounds: { logStart: 500, end: 900 } }), {})).toMatchObject({
      wanted: 100,
    });
  });

  it("from a copy or a commit that does not exist is refused", () => {
    expect(decide(facts("COMMIT_VANISHED", { committed: undefined }), {})).toMatchObject({ point: "committed" });
    expect(decide(facts("KV_COPY_MISSING", { copy: undefined }), { from: "copy" })).toMatchObject({ point: "copy" });
  });

  it("into a log that contradicts the copy needs an epoch, from wherever", () => {
    const truncated = facts("ABOVE_LOG_END", { bounds: { logStart: 0, end: 80 } });
    for (const from of ["log-start", "copy", 50] as const) {
      expect(decide(truncated, { from, acceptLoss: { from: 0, toMax: 5_000 } }).decision).not.toBe("resume");
    }
    expect(decide(truncated, { from: "log-start" })).toMatchObject({ decision: "needs-epoch" });
  });

  it("after a stop that doubts the log is possible from the copy alone", () => {
    for (const code of ["TOPIC_RECREATED", "COMMIT_VANISHED", "ABOVE_LOG_END"] as const) {
      expect(decide(facts(code, {}), { from: 50 }), code).toMatchObject({ decision: "needs-epoch" });
    }
  });

  it("after a stop that doubts the log may go on behind the copy when the log begins there: nothing of it lies below", () => {
    const gone = { committed: undefined, bounds: { logStart: 500, end: 900 } };
    const accepted = { from: "log-start", acceptLoss: { from: 100, toMax: 500 } } as const;
    expect(decide(facts("COMMIT_VANISHED", gone), accepted)).toMatchObject({
      decision: "resume",
      passedOver: [{ from: 100, to: 500, cause: "lost" }],
    });
    const within = { committed: undefined, bounds: { logStart: 99, end: 900 } };
    const later = { from: 200, acceptLoss: { from: 0, toMax: 900 } };
    expect(decide(facts("TOPIC_RECREATED", within), later)).toMatchObject({ decision: "needs-epoch" });
  });

  it("of a source that is bound to something else needs an epoch; old partitions may be read to their end", () => {
    const sourceStop = { code: "PARTITIONS_CHANGED", detail: "4 became 6" } as const;
    expect(decide(facts("PARTITIONS_CHANGED", {}, { sourceStop, old: true }), {})).toMatchObject({
      decision: "resume",
    });
    expect(decide(facts("PARTITIONS_CHANGED", {}, { sourceStop, old: false }), {})).toMatchObject({
      decision: "needs-epoch",
    });
    const identity = { code: "IDENTITY_CHANGED", detail: "another cluster" } as const;
    expect(decide(facts("IDENTITY_CHANGED", {}, { sourceStop: identity }), {})).toMatchObject({
      decision: "needs-epoch",
    });
  });

  it("allows poison only between `from` and the end", () => {
    const given = facts("POISON", {});
    expect(decide(given, { allowPoison: { to: 101 } })).toMatchObject({ decision: "resume", allowPoison: 101 });
    expect(decide(given, { allowPoison: { to: 100 } })).toMatchObject({ decision: "outside", what: "allowPoison.to" });
    expect(decide(given, { allowPoison: { to: 1_001 } })).toMatchObject({
      decision: "outside",
      what: "allowPoison.to",
    });
  });
});

describe("the resumption still decides", () => {
  const retained = facts(
    "BELOW_LOG_START",
    { committed: 80, copy: copyAt(80), bounds: { logStart: 500, end: 1_000 } },
    { reach: 100 },
  );
  const accepted = { from: "log-start", acceptLoss: { from: 0, toMax: 500 } } as const;

  it("when the life that stopped commits what it had in flight only afterwards", () => {
    expect(next(retained, accepted, { committed: 100, copy: copyAt(100) })).toMatchObject({
      decision: "start",
      at: 500,
    });
    expect(next(retained, accepted, { committed: 80, copy: copyAt(100) })).toMatchObject({
      decision: "start",
      at: 500,
    });
  });

  it("when the process dies between its first copy and its first commit, at its copy", () => {
    for (const committed of [80, 100]) {
      expect(next(retained, accepted, { committed, copy: copyAt(600) })).toMatchObject({ decision: "start", at: 600 });
    }
  });

  it("but not once a commit of its own was confirmed", () => {
    expect(next(retained, accepted, { committed: 600, copy: copyAt(650) })).toMatchObject({
      decision: "start",
      at: 600,
    });
  });

  it("and a commit that it goes back behind is not one that somebody moved", () => {
    const moved = facts("COMMIT_MOVED", { committed: 900 });
    const decision = decide(moved, { from: "copy" });
    if (decision.decision !== "resume") throw new Error("refused");
    const later = { ...moved.start, startRecord: decision.start };
    expect(toleratedCommit(later)).toBe(900);
    expect(toleratedCommit({ ...later, copy: copyAt(300) })).toBe(900);
    expect(toleratedCommit({ ...later, committed: 950 })).toBeUndefined();
    expect(decideStart({ ...later, committed: 950 })).toMatchObject({
      decision: "stop",
      stop: { code: "COMMIT_MOVED" },
    });
  });
});
