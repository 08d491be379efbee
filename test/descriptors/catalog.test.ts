import { describe, expect, it } from "vitest";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const subject = "ysearch.article";
const build = (text: string) => [{ subject, message: "M", files: { "a.proto": text } }];

describe("what ships with the build", () => {
  it("is registered once however often two builds take turns", async () => {
    const { control } = new MemoryPlane();
    for (const text of ["one", "two", "one", "two", "one"]) await new DescriptorCatalog(control).seed(build(text));
    const catalog = new DescriptorCatalog(control);
    expect(await catalog.latest(subject)).toBe(2);
    expect((await catalog.get(subject, 1)).files).toEqual({ "a.proto": "one" });
    expect((await catalog.get(subject, 2)).files).toEqual({ "a.proto": "two" });
  });

  it("a third content is a third version", async () => {
    const { control } = new MemoryPlane();
    for (const text of ["one", "two", "one", "three"]) await new DescriptorCatalog(control).seed(build(text));
    expect(await new DescriptorCatalog(control).latest(subject)).toBe(3);
  });
});
