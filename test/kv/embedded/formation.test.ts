import { describe, expect, it } from "vitest";
import { type Found, judgeFormation, judgeReturn } from "../../../src/kv/embedded/formation.ts";
import { type Identity, OWNERS, decodeIdentity, encodeIdentity } from "../../../src/kv/embedded/identity.ts";

function identity(owner: Identity["owner"], phase: Identity["phase"], more: Partial<Identity> = {}): Identity {
  const incarnations = { a: "ia", b: "ib", c: "ic" };
  return { format: 2, deployment: "d1", owner, phase, membership: { generation: 1, incarnations }, ...more };
}

const empty: Found = { found: "empty" };
const unreadable: Found = { found: "unreadable" };
const holds = (value: Identity): Found => ({ found: "identity", identity: value });

function verdicts(a: Found, b: Found, c: Found): string[] | "new" {
  const judged = judgeFormation({ a, b, c });
  if (judged.formation === "new") return "new";
  return OWNERS.map((owner) => {
    const verdict = judged.owners[owner];
    return "reason" in verdict ? verdict.reason.code : verdict.verdict;
  });
}

describe("judging three directories", () => {
  const formed = OWNERS.map((owner) => holds(identity(owner, "formed")));
  const forming = OWNERS.map((owner) => holds(identity(owner, "forming")));
  const [fa, fb, fc] = [formed[0] ?? empty, formed[1] ?? empty, formed[2] ?? empty];
  const [ga, gb, gc] = [forming[0] ?? empty, forming[1] ?? empty, forming[2] ?? empty];

  it("finds a first start only where nobody is formed and all can be looked at", () => {
    for (const a of [empty, ga]) {
      for (const b of [empty, gb]) {
        for (const c of [empty, gc, holds(identity("c", "forming", { deployment: "d0" }))]) {
          expect(verdicts(a, b, c)).toBe("new");
        }
      }
    }
    expect(verdicts(empty, empty, unreadable)).toEqual(["OWNER_EMPTY", "OWNER_EMPTY", "unreadable"]);
    expect(verdicts(ga, empty, unreadable)).toEqual(["OWNER_NOT_FORMED", "OWNER_EMPTY", "unreadable"]);
  });

  it("serves what is formed and completes what was cut short", () => {
    expect(verdicts(fa, fb, fc)).toEqual(["serve", "serve", "serve"]);
    expect(verdicts(fa, gb, gc)).toEqual(["serve", "complete", "complete"]);
    expect(verdicts(ga, gb, fc)).toEqual(["complete", "complete", "serve"]);
  });

  it("takes an empty directory beside a formed one for a loss", () => {
    expect(verdicts(fa, empty, empty)).toEqual(["serve", "OWNER_EMPTY", "OWNER_EMPTY"]);
    expect(verdicts(fa, gb, empty)).toEqual(["serve", "complete", "OWNER_EMPTY"]);
    expect(verdicts(empty, unreadable, fc)).toEqual(["OWNER_EMPTY", "unreadable", "serve"]);
  });

  it("refuses the odd one of two deployments, and both where nobody can tell", () => {
    const foreign = (owner: Identity["owner"]): Found => holds(identity(owner, "formed", { deployment: "d2" }));
    expect(verdicts(fa, foreign("b"), fc)).toEqual(["serve", "OWNER_FOREIGN", "serve"]);
    expect(verdicts(fa, foreign("b"), foreign("c"))).toEqual(["OWNER_FOREIGN", "serve", "serve"]);
    expect(verdicts(fa, foreign("b"), empty)).toEqual(["OWNER_FOREIGN", "OWNER_FOREIGN", "OWNER_EMPTY"]);
    const cutShort = holds(identity("c", "forming", { deployment: "d2" }));
    expect(verdicts(fa, fb, cutShort)).toEqual(["serve", "serve", "OWNER_FOREIGN"]);
  });

  it("refuses another owner's directory and a newer format", () => {
    expect(verdicts(fb, fa, fc)).toEqual(["OWNER_SWAPPED", "OWNER_SWAPPED", "serve"]);
    expect(verdicts(fa, fb, holds(identity("c", "formed", { format: 3 })))).toEqual(["serve", "serve", "OWNER_FORMAT"]);
    expect(verdicts(empty, empty, holds(identity("c", "formed", { format: 3 })))).toEqual([
      "OWNER_EMPTY",
      "OWNER_EMPTY",
      "OWNER_FORMAT",
    ]);
  });
});

describe("an incarnation that is void", () => {
  const incarnations = { a: "ia", b: "new", c: "ic" };
  const later = { generation: 2, incarnations };
  const known = { deployment: "d1", membership: later };
  const told = (owner: Identity["owner"]): Found => holds(identity(owner, "formed", { membership: later }));
  const old = (owner: Identity["owner"]): Found => holds(identity(owner, "formed"));

  it("merges before it counts, though one directory alone knows of it, and though its own does not", () => {
    expect(verdicts(told("a"), old("b"), told("c"))).toEqual(["serve", "merge", "serve"]);
    expect(verdicts(told("a"), old("b"), old("c"))).toEqual(["serve", "merge", "serve"]);
    expect(verdicts(old("a"), old("b"), told("c"))).toEqual(["serve", "merge", "serve"]);
    expect(verdicts(unreadable, old("b"), told("c"))).toEqual(["unreadable", "merge", "serve"]);
    expect(judgeReturn("b", old("b"), known).verdict).toBe("merge");
  });

  it("goes on merging until it has merged, whatever its number", () => {
    const merging = holds(identity("b", "merging", { membership: later }));
    expect(verdicts(told("a"), merging, told("c"))).toEqual(["serve", "merge", "serve"]);
    expect(verdicts(unreadable, merging, unreadable)).toEqual(["unreadable", "merge", "unreadable"]);
    expect(judgeReturn("b", merging, known).verdict).toBe("merge");
    expect(judgeReturn("b", told("b"), known).verdict).toBe("serve");
  });

  it("does not make another one void, and an empty directory is a loss at any time", () => {
    expect(judgeReturn("a", old("a"), known).verdict).toBe("serve");
    expect(judgeReturn("a", empty, known)).toMatchObject({ verdict: "lost", reason: { code: "OWNER_EMPTY" } });
    expect(judgeReturn("a", unreadable, known).verdict).toBe("unreadable");
  });
});

describe("the identity record", () => {
  it("comes back as it was written, and anything else is none", () => {
    const written = identity("b", "formed");
    expect(decodeIdentity(encodeIdentity(written))).toEqual(written);
    for (const bad of ["", "{", "null", "[]", '{"format":2}', '{"format":"2"}']) {
      expect(decodeIdentity(Buffer.from(bad))).toBeUndefined();
    }
    expect(decodeIdentity(Buffer.from('{"format":9,"else":true}'))?.format).toBe(9);
  });
});
