import { describe, expect, it } from "vitest";
import {
  FORMAT_VERSION,
  type Identity,
  decodeIdentity,
  encodeIdentity,
  replaceIncarnation,
} from "../../../src/kv/embedded/identity.ts";

const IDENTITY: Identity = {
  format: FORMAT_VERSION,
  deployment: "d1",
  owner: "b",
  phase: "merging",
  membership: { generation: 3, incarnations: { a: "ia", b: "ib", c: "ic" } },
};

describe("an identity", () => {
  it("comes back as it was written, in every phase", () => {
    for (const phase of ["forming", "formed", "merging"] as const) {
      expect(decodeIdentity(encodeIdentity({ ...IDENTITY, phase }))).toEqual({ ...IDENTITY, phase });
    }
  });

  it("of this format lacks nothing, and is none otherwise", () => {
    const wrong = [
      { deployment: 1 },
      { owner: "d" },
      { phase: "done" },
      { membership: undefined },
      { membership: { ...IDENTITY.membership, generation: 1.5 } },
      { membership: { generation: 1, incarnations: { a: "ia", b: "ib" } } },
      { membership: { generation: 1 } },
    ];
    for (const change of wrong) {
      expect(decodeIdentity(Buffer.from(JSON.stringify({ ...IDENTITY, ...change })))).toBeUndefined();
    }
  });

  it("of another format is one, whatever else it says", () => {
    expect(decodeIdentity(Buffer.from('{"format":3}'))?.format).toBe(3);
    expect(decodeIdentity(Buffer.from('{"format":1,"owner":7}'))?.format).toBe(1);
  });
});

describe("replacing an incarnation", () => {
  it("makes the next generation, in which the others are who they were", () => {
    const { membership } = IDENTITY;
    expect(replaceIncarnation(membership, "c", "new")).toEqual({
      generation: 4,
      incarnations: { a: "ia", b: "ib", c: "new" },
    });
    expect(membership.incarnations.c).toBe("ic");
  });
});
