import { describe, expect, it } from "vitest";
import { encodeDocumentCell } from "../../src/core/cell.ts";
import type { Gap } from "../../src/core/gaps/gap.ts";
import { versionOf } from "../../src/core/version.ts";
import { type Fate, tell } from "../../src/explain/verdict.ts";

function cell(
  offset: number,
  more: { readonly partition?: number; readonly revision?: number; readonly epoch?: number } = {},
) {
  const { partition = 0, revision = 1, epoch = 0 } = more;
  const bytes = encodeDocumentCell({
    revision,
    partition,
    state: "live",
    bodyFormat: "raw",
    descriptorVersion: 0,
    timestampMs: 0,
    body: Uint8Array.of(1),
  });
  return { order: versionOf({ topicEpoch: epoch, offset }), bytes };
}

const gap = (cause: Gap["cause"]): Gap => ({
  topicEpoch: 0,
  from: 0,
  to: 100,
  cause,
  actor: "chief",
  reason: "",
  at: 0,
  lastAt: 0,
  records: null,
  codes: [],
  audit: null,
});

const base: Fate = {
  partition: 0,
  topicEpoch: 0,
  offset: 10,
  cell: cell(10),
  fault: false,
  applied: 20,
  readsAt: 20,
  stored: cell(10),
  gaps: [],
};
const verdict = (change: Partial<Fate>) => tell({ ...base, ...change }).verdict;

describe("what became of a record", () => {
  it("by what is stored: itself, something newer, the same under a newer revision", () => {
    expect(verdict({})).toBe("applied");
    expect(verdict({ readsAt: 10 })).toBe("already-applied");
    expect(verdict({ readsAt: undefined })).toBe("applied");
    expect(tell({ ...base, stored: cell(11, { partition: 3 }) })).toMatchObject({
      verdict: "superseded",
      by: { partition: 3, offset: 11, topicEpoch: 0 },
    });
    expect(tell({ ...base, stored: cell(10, { revision: 2 }) })).toMatchObject({
      verdict: "superseded",
      by: { offset: 10, revision: 2 },
    });
  });

  it("something newer supersedes what was read; of its own partition it shows that this was read", () => {
    expect(verdict({ applied: 10, stored: cell(11) })).toBe("superseded");
    expect(verdict({ applied: 10, stored: cell(11, { partition: 1 }) })).toBe("not-read");
    expect(verdict({ applied: 10, stored: cell(11, { epoch: 1 }) })).toBe("not-read");
    expect(verdict({ applied: 11, stored: cell(0, { epoch: 1 }) })).toBe("superseded");
  });

  it("without it: not read, missing, dead-lettered, and what the gap ledger says", () => {
    expect(verdict({ applied: 10, stored: undefined })).toBe("not-read");
    expect(verdict({ applied: 10, stored: cell(9) })).toBe("not-read");
    expect(verdict({ stored: cell(9) })).toBe("missing");
    expect(verdict({ cell: undefined, fault: true, stored: cell(15) })).toBe("dead-lettered");
    expect(verdict({ cell: undefined, fault: true, applied: 10 })).toBe("not-read");
    expect(verdict({ cell: undefined })).toBe("not-read");
    expect(verdict({ stored: undefined, gaps: [gap("skipped")] })).toBe("skipped");
    expect(verdict({ stored: cell(15), gaps: [gap("lost")] })).toBe("skipped");
    expect(verdict({ gaps: [gap("lost")] })).toBe("applied");
    expect(verdict({ cell: undefined, fault: true, gaps: [gap("dead-letter"), gap("skipped")] })).toBe("dead-lettered");
  });
});
