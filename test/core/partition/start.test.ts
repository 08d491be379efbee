import { describe, expect, it } from "vitest";
import type { Copy } from "../../../src/core/partition/copy.ts";
import { decideStart, type StartFacts } from "../../../src/core/partition/start.ts";

const bounds = { logStart: 10, end: 100 };

function facts(partial: Partial<StartFacts>): StartFacts {
  return { startRecord: undefined, committed: undefined, copy: undefined, bounds, ...partial };
}

function copyAt(watermark: number, more: Partial<Copy> = {}): Copy {
  return { watermark, fingerprint: undefined, logStartSeen: undefined, ...more };
}

const print = (offset: number) => ({ offset, timestampMs: 5, hash: "aa" });

describe("I5: the start is decided from start record, commit, copy and bounds", () => {
  it("an unsettled start record decides, whatever was committed", () => {
    const decision = decideStart(
      facts({ startRecord: { from: 20, before: 90, copyBefore: 90, settled: false }, committed: 90, copy: copyAt(90) }),
    );
    expect(decision).toEqual({ decision: "start", at: 20 });
  });

  it("a settled start record no longer decides", () => {
    const decision = decideStart(
      facts({ startRecord: { from: 20, before: 90, copyBefore: 90, settled: true }, committed: 90, copy: copyAt(90) }),
    );
    expect(decision).toEqual({ decision: "start", at: 90 });
  });

  it("a commit after an unsettled start record decides: the process died before it could settle the record", () => {
    const startRecord = { from: 0, before: null, copyBefore: null, settled: false };
    const decision = decideStart(facts({ startRecord, committed: 50, copy: copyAt(50) }));
    expect(decision).toEqual({ decision: "start", at: 50 });
  });

  it("a group that was reset to where a partition begins, or before, lost nothing: there is a start record and no copy", () => {
    const startRecord = { from: 40, before: null, copyBefore: null, settled: false };
    expect(decideStart(facts({ startRecord, committed: 40 }))).toEqual({ decision: "start", at: 40 });
    expect(decideStart(facts({ startRecord, committed: 20 }))).toEqual({ decision: "start", at: 20 });
    expect(decideStart(facts({ startRecord, committed: 41 }))).toMatchObject({ stop: { code: "KV_COPY_MISSING" } });
  });

  it("a start record without a commit and a copy is the start, also when the commit that it knew of has vanished", () => {
    const startRecord = { from: 40, before: 45, copyBefore: null, settled: false, reach: 45 };
    expect(decideStart(facts({ startRecord }))).toEqual({ decision: "start", at: 40 });
    expect(decideStart(facts({ startRecord: { ...startRecord, settled: true } }))).toEqual({
      decision: "start",
      at: 40,
    });
  });

  it("no commit and no copy is a first start", () => {
    expect(decideStart(facts({}))).toEqual({ decision: "first-start" });
  });

  it("no commit, a copy, log start equal to it: goes on from the copy", () => {
    expect(decideStart(facts({ copy: copyAt(10) }))).toEqual({ decision: "start", at: 10 });
  });

  it("no commit, a copy, log start above it: I4", () => {
    const decision = decideStart(facts({ copy: copyAt(5) }));
    expect(decision).toMatchObject({ decision: "stop", stop: { code: "BELOW_LOG_START", lost: { from: 5, to: 10 } } });
  });

  it("no commit, a copy with a fingerprint: the record must be in the log", () => {
    const decision = decideStart(facts({ copy: copyAt(50, { fingerprint: print(49) }) }));
    expect(decision).toEqual({
      decision: "start",
      at: 50,
      verify: { fingerprint: print(49), ifAbsent: "stop" },
    });
  });

  it.each([
    ["without a fingerprint", copyAt(50)],
    ["with a fingerprint that the log no longer reaches", copyAt(50, { fingerprint: print(9) })],
  ])("no commit, a copy %s, log start below it: a re-created topic", (_name, copy) => {
    expect(decideStart(facts({ copy }))).toMatchObject({ decision: "stop", stop: { code: "TOPIC_RECREATED" } });
  });

  it("a commit without a copy stops", () => {
    expect(decideStart(facts({ committed: 50 }))).toMatchObject({
      decision: "stop",
      stop: { code: "KV_COPY_MISSING" },
    });
  });

  it("a commit behind the copy goes on from the commit, and recognises the log by the last record of the copy", () => {
    expect(decideStart(facts({ committed: 40, copy: copyAt(50, { fingerprint: print(49) }) }))).toEqual({
      decision: "start",
      at: 40,
      verify: { fingerprint: print(49), ifAbsent: "go-on" },
    });
  });

  it("a commit equal to the copy goes on, and recognises the log by its last record", () => {
    expect(decideStart(facts({ committed: 50, copy: copyAt(50, { fingerprint: print(48) }) }))).toEqual({
      decision: "start",
      at: 50,
      verify: { fingerprint: print(48), ifAbsent: "go-on" },
    });
  });

  it("a commit ahead of the copy was moved by somebody", () => {
    expect(decideStart(facts({ committed: 60, copy: copyAt(50) }))).toMatchObject({
      decision: "stop",
      stop: { code: "COMMIT_MOVED", wanted: 60 },
    });
  });
});

describe("I4: nothing starts outside the bounds", () => {
  it("a commit below log start stops with the lost range", () => {
    expect(decideStart(facts({ committed: 5, copy: copyAt(5) }))).toMatchObject({
      decision: "stop",
      stop: { code: "BELOW_LOG_START", wanted: 5, lost: { from: 5, to: 10 } },
    });
  });

  it("a start record above the end stops", () => {
    expect(
      decideStart(facts({ startRecord: { from: 101, before: null, copyBefore: null, settled: false } })),
    ).toMatchObject({
      decision: "stop",
      stop: { code: "ABOVE_LOG_END", wanted: 101 },
    });
  });

  it("exactly the end is legal", () => {
    expect(decideStart(facts({ committed: 100, copy: copyAt(100) }))).toEqual({ decision: "start", at: 100 });
  });

  it("an end below what was applied is another log, even when the commit is inside", () => {
    expect(decideStart(facts({ committed: 20, copy: copyAt(500) }))).toMatchObject({
      decision: "stop",
      stop: { code: "ABOVE_LOG_END" },
    });
  });

  it("a log start that fell is another log", () => {
    expect(decideStart(facts({ committed: 50, copy: copyAt(50, { logStartSeen: 30 }) }))).toMatchObject({
      decision: "stop",
      stop: { code: "TOPIC_RECREATED" },
    });
  });
});
