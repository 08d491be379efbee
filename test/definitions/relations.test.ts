import { beforeEach, describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import type { SourceDefinition } from "../../src/core/source.ts";
import { sourceFaults } from "../../src/core/source-relations.ts";
import { DefinitionStore } from "../../src/definitions/definition-store.ts";
import { seedDifferences } from "../../src/definitions/resolve.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { definition, stubCompiler } from "../support/fleet-world.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const bids: SourceDefinition = {
  ...definition,
  name: "bids",
  topic: "bids",
  group: "ysearch-streams.bids",
  namespace: "bids",
  deadLetterTopic: "bids.dlq",
};

describe("what does not go together", () => {
  it.each<[string, Partial<SourceDefinition>, string, RegExp]>([
    ["its own topic for its dead letters", { deadLetterTopic: "articles" }, "deadLetterTopic", /own topic/],
    ["another's topic for its dead letters", { deadLetterTopic: "bids" }, "deadLetterTopic", /read by source bids/],
    ["a topic that takes another's dead letters", { topic: "bids.dlq" }, "topic", /source bids sends/],
    ["another's group", { group: bids.group }, "group", /also that of source bids/],
    ["another's namespace", { namespace: "bids" }, "namespace", /also that of source bids/],
    [
      "a descriptor with format raw",
      { descriptor: { subject: "s", version: 1, message: "M" } },
      "descriptor",
      /format raw/,
    ],
    ["format protobuf without a descriptor", { format: "protobuf" }, "descriptor", /without a descriptor/],
    ["a name of a topic that no broker takes", { deadLetterTopic: "x".repeat(250) }, "deadLetterTopic", /250/],
  ])("%s", (_name, change, member, text) => {
    const faults = sourceFaults({ ...definition, ...change }, [bids]);
    expect(faults.map((fault) => fault.member)).toEqual([member]);
    expect(faults[0]?.found).toMatch(text);
  });

  it("a circle through the dead letters of three", () => {
    const ads = { ...bids, name: "ads", topic: "ads", group: "g", namespace: "ads", deadLetterTopic: "articles" };
    const faults = sourceFaults({ ...definition, deadLetterTopic: "bids" }, [{ ...bids, deadLetterTopic: "ads" }, ads]);
    expect(faults.map((fault) => fault.right)).toContainEqual(expect.stringMatching(/come back/));
  });

  it("one topic read into two namespaces by two groups is fine, and so is one topic for the letters of both", () => {
    expect(sourceFaults({ ...definition, deadLetterTopic: "all.dlq" }, [{ ...bids, topic: "articles" }])).toEqual([]);
    expect(sourceFaults({ ...definition, deadLetterTopic: "dlq" }, [{ ...bids, deadLetterTopic: "dlq" }])).toEqual([]);
  });
});

describe("the store of definitions holds the same rule", () => {
  let plane: MemoryPlane;
  const open = () => {
    const dependencies = {
      control: plane.control,
      compiler: stubCompiler,
      kinds,
      descriptor: () => Promise.reject(new Error("none here")),
    };
    const catalog = new DescriptorCatalog(plane.control, (files) => createDescriptorChecks().digest(files));
    return new DefinitionStore(dependencies, { catalog, kinds, builtinSubjects: new Set() });
  };
  beforeEach(() => {
    plane = new MemoryPlane();
  });

  it.each<[string, Partial<SourceDefinition>, RegExp]>([
    ["its own topic", { deadLetterTopic: "articles" }, /own topic/],
    ["another source's topic", { deadLetterTopic: "bids" }, /read by source bids/],
    ["a descriptor that nobody uses", { descriptor: { subject: "s", version: 1, message: "M" } }, /format raw/],
  ])("a change to %s is refused, naming the other source, and changes nothing", async (_name, change, text) => {
    const store = open();
    await store.load([definition, bids]);
    const before = await store.read("articles");
    const changed = store.define("articles", { ...definition, ...change }, before?.etag ?? "");
    await expect(changed).rejects.toMatchObject({
      code: "DEFINITION_CONFLICT",
      message: expect.stringMatching(text) as unknown,
    });
    expect(await store.read("articles")).toEqual(before);
  });

  it("a seed that contradicts what an earlier file left in force is refused", async () => {
    await open().load([bids]);
    const seeding = open().load([{ ...definition, deadLetterTopic: "bids" }]);
    await expect(seeding).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await open().read("articles")).toBeUndefined();
  });

  it("a file that differs from what is in force keeps nothing from starting: it is drift", async () => {
    await open().load([definition, bids]);
    const seed = { ...definition, deadLetterTopic: "bids" };
    const [first] = await open().load([seed]);
    expect(first?.definition).toEqual(definition);
    expect(seedDifferences(seed, first?.definition ?? seed)).toEqual(["deadLetterTopic"]);
  });
});
