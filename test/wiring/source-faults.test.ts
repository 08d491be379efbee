import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { sourceFaults } from "../../src/wiring/source-faults.ts";

function faultsOf(sources: string): Promise<readonly string[]> {
  const text = `broker: { brokers: ["localhost:9092"] }\nsources:\n${sources}`;
  const readFile = () => new TextEncoder().encode(text);
  return sourceFaults(loadConfig({ env: {}, cwd: "/srv/app", readFile }).config.sources);
}

describe("what keeps a configured source from running", () => {
  it.each([
    ["the built-in descriptor with the kind's own mapping", "  - { name: a, kind: documents, topic: a }", []],
    ["raw documents", "  - { name: a, kind: documents, topic: a, format: raw }", []],
    ["bids as documents", "  - { name: b, kind: documents, topic: b, descriptor: { subject: ysearch.bid } }", []],
    ["campaigns", "  - { name: c, kind: campaigns, topic: c }", []],
    ["dials", "  - { name: d, kind: dials, topic: d }", []],
    ["traffic", "  - { name: t, kind: traffic, topic: t }", []],
    ["ad actions", "  - { name: a, kind: ad_actions, topic: a }", []],
    [
      "a subject that only the store can know",
      "  - { name: a, kind: documents, topic: a, descriptor: { subject: x.y } }",
      [],
    ],
    ["a mapping to no field", "  - { name: a, kind: documents, topic: a, mapping: { id: 999 } }", [/MAPPING_INVALID/]],
    [
      "a message that is not there",
      "  - { name: a, kind: documents, topic: a, descriptor: { subject: ysearch.article, message: x.Y } }",
      [/x\.Y/],
    ],
  ])("%s", async (_name, sources, expected) => {
    expect(await faultsOf(sources)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });
});
