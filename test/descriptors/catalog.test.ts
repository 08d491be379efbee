import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createRecord, updateRecord } from "../../src/control/json-record.ts";
import { DescriptorRecord, SubjectRecord, recordNames } from "../../src/control/records.ts";
import { createDescriptorChecks } from "../../src/decoding/descriptor-checks.ts";
import { DescriptorCatalog } from "../../src/descriptors/catalog.ts";
import { VersionCache } from "../../src/descriptors/version-cache.ts";
import type { ControlStore } from "../../src/ports/kv-plane.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const subject = "ysearch.article";
const text = (field: string) => `message M { optional int32 ${field} = 1; }`;
const build = (field: string) => [{ subject, message: "M", files: { "a.proto": text(field) } }];
const catalogOf = (control: ControlStore) =>
  new DescriptorCatalog(control, (files) => createDescriptorChecks().digest(files));

describe("what ships with the build", () => {
  it("is registered once however often two builds take turns", async () => {
    const { control } = new MemoryPlane();
    for (const field of ["one", "two", "one", "two", "one"]) await catalogOf(control).seed(build(field));
    const catalog = catalogOf(control);
    expect(await catalog.latest(subject)).toBe(2);
    expect((await catalog.get(subject, 1)).files).toEqual({ "a.proto": text("one") });
    expect((await catalog.get(subject, 2)).files).toEqual({ "a.proto": text("two") });
  });

  it("a third content is a third version, another text of the same is none", async () => {
    const { control } = new MemoryPlane();
    for (const field of ["one", "two", "one", "three"]) await catalogOf(control).seed(build(field));
    expect(await catalogOf(control).latest(subject)).toBe(3);
    const commented = { "b.proto": `/* as before */ ${text("two")}` };
    await catalogOf(control).seed([{ subject, message: "M", files: commented }]);
    expect(await catalogOf(control).latest(subject)).toBe(3);
  });

  it("is recognised where an earlier release stored a digest of the text", async () => {
    const { control } = new MemoryPlane();
    const files = { "a.proto": text("one") };
    const digest = createHash("sha256")
      .update(JSON.stringify(Object.entries(files)))
      .digest("hex");
    await createRecord(control, recordNames.descriptor(subject, 1), DescriptorRecord, { files, message: "M", digest });
    await updateRecord(control, recordNames.subject(subject), SubjectRecord, () => ({ latest: 1 }));
    await catalogOf(control).seed(build("one"));
    expect(await catalogOf(control).latest(subject)).toBe(1);
    await catalogOf(control).seed(build("two"));
    expect(await catalogOf(control).latest(subject)).toBe(2);
  });

  it("counts a version that its writer stored and could not count any more", async () => {
    const { control } = new MemoryPlane();
    const files = { "a.proto": text("one") };
    await createRecord(control, recordNames.descriptor(subject, 1), DescriptorRecord, {
      files,
      message: "M",
      digest: "x",
    });
    await catalogOf(control).seed(build("two"));
    const catalog = catalogOf(control);
    expect(await catalog.latest(subject)).toBe(2);
    expect((await catalog.get(subject, 1)).files).toEqual(files);
  });
});

describe("versions that are kept in memory", () => {
  it("are bounded by the size of their text, the one that was used last staying", () => {
    const cache = new VersionCache<number>();
    const mib = 1024 * 1024;
    for (let version = 1; version <= 128; version += 1) {
      cache.set(String(version), version, mib);
      expect(cache.get("1")).toBe(1);
    }
    expect(cache.size).toBe(16 * mib);
    expect(cache.get("113")).toBeUndefined();
    expect(cache.get("114")).toBe(114);
    cache.set("1", 1, 17 * mib);
    expect(cache.get("1")).toBeUndefined();
    expect(cache.size).toBe(15 * mib);
  });
});
