import { beforeEach, describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import { DefinitionStore } from "../../src/definitions/definition-store.ts";
import { FileSources } from "../../src/definitions/file-sources.ts";
import { seedDifferences } from "../../src/definitions/resolve.ts";
import type { SourceSeed } from "../../src/core/source.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { definition, stubCompiler } from "../support/fleet-world.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const { mapping: _mapping, ...open } = definition;
const bids: SourceSeed = {
  ...open,
  name: "bids",
  topic: "bids",
  group: "ysearch-streams.bids",
  namespace: "bids",
  deadLetterTopic: "bids.dlq",
};

describe("a new source", () => {
  let plane: MemoryPlane;
  let store: DefinitionStore;
  beforeEach(async () => {
    plane = new MemoryPlane();
    const descriptor = () => Promise.reject(new Error("none here"));
    const dependencies = { control: plane.control, compiler: stubCompiler, kinds, descriptor };
    const catalog = new DescriptorCatalog(plane.control, (files) => createDescriptorChecks().digest(files));
    store = new DefinitionStore(dependencies, { catalog, kinds, builtinSubjects: new Set() });
    await store.load([definition]);
  });

  it("is completed as at a start, under revision 1", async () => {
    const created = await store.create(bids);
    expect(created).toMatchObject({ revision: 1, definition: { name: "bids", mapping: {} } });
    expect(await store.read("bids")).toEqual(created);
  });

  it("is what a repeated attempt finds; another of its name is refused and changes nothing", async () => {
    const created = await store.create(bids);
    expect(await store.create(bids)).toEqual(created);
    const other = store.create({ ...bids, onPoison: "stop" });
    await expect(other).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await store.read("bids")).toEqual(created);
  });

  it("that takes another's namespace is refused and leaves nothing", async () => {
    const created = store.create({ ...bids, namespace: "articles" });
    await expect(created).rejects.toMatchObject({ code: "DEFINITION_CONFLICT" });
    expect(await store.read("bids")).toBeUndefined();
  });
});

describe("drift", () => {
  const inForce = {
    ...definition,
    format: "protobuf",
    descriptor: { subject: "s", version: 3, message: "M" },
    mapping: { id: [1] },
  } as const;
  const { mapping: _open, ...seed } = inForce;

  it.each<[string, SourceSeed, readonly string[]]>([
    ["the same", inForce, []],
    ["version, message and mapping left open", { ...seed, descriptor: { subject: "s" } }, []],
    ["another version", { ...seed, descriptor: { subject: "s", version: 4 } }, ["descriptor"]],
    ["another mapping", { ...inForce, mapping: { id: [2] } }, ["mapping"]],
    ["another subject", { ...seed, descriptor: { subject: "t" } }, ["descriptor", "mapping"]],
    ["another policy", { ...inForce, onPoison: "stop" }, ["onPoison"]],
  ])("%s", (_what, file, members) => {
    expect(seedDifferences(file, inForce)).toEqual(members);
  });

  it("is told by the file as it is at the question; a source that the file does not name has none", () => {
    let file: readonly SourceSeed[] = [inForce];
    const sources = new FileSources(() => file);
    expect(sources.differences(inForce)).toEqual([]);
    file = [{ ...inForce, onPoison: "stop" }];
    expect(sources.differences(inForce)).toEqual(["onPoison"]);
    expect(sources.differences({ ...inForce, name: "other", onPoison: "dead-letter" })).toEqual([]);
  });
});
