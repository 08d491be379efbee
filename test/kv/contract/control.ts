import { expect, it } from "vitest";
import { InvariantViolation } from "../../../src/core/invariant.ts";
import { CELL_SPACES, KEY_BYTES_MAX, type KvPlane } from "../../../src/ports/kv-plane.ts";
import type { ContractOptions } from "../contract.ts";
import { text } from "./cells.ts";

/** Control records. */
export function describeControl(plane: () => KvPlane, options: ContractOptions): void {
  it("reads nothing where there is no record", async () => {
    expect(await plane().control.read("control/none")).toBeUndefined();
  });

  it("writes only over the expected tag, and gives every write a new one", async () => {
    const { control } = plane();
    const first = await control.compareAndSet("control/cas", undefined, text("1"));
    expect(first).toMatchObject({ outcome: "written", record: { value: text("1") } });
    const tag = first.outcome === "written" ? first.record.tag : "";
    const conflict = await control.compareAndSet("control/cas", undefined, text("2"));
    expect(conflict).toMatchObject({ outcome: "conflict", current: { tag } });
    expect(await control.compareAndSet("control/cas", "no such tag", text("2"))).toEqual(conflict);
    const second = await control.compareAndSet("control/cas", tag, text("1"));
    expect(second.outcome === "written" && second.record.tag !== tag).toBe(true);
    const absent = await control.compareAndSet("control/absent", "a tag", text("1"));
    expect(absent).toEqual({ outcome: "conflict", current: undefined });
  });

  it("keeps an empty value and odd names", async () => {
    const { control } = plane();
    for (const name of ["control/empty", "control/é\u{1F600}", "control/ /%"]) {
      const written = await control.compareAndSet(name, undefined, new Uint8Array(0));
      const tag = written.outcome === "written" ? written.record.tag : "";
      const record = await control.read(name);
      expect([record?.tag, record?.value.length]).toEqual([tag, 0]);
    }
  });

  it("lets one of twenty racing writers win each round", async () => {
    const { control } = plane();
    let tag: string | undefined;
    for (let round = 0; round < 5; round += 1) {
      const expected = tag;
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => control.compareAndSet("control/race", expected, text(`${index}`))),
      );
      const won = outcomes.flatMap((outcome) => (outcome.outcome === "written" ? [outcome.record] : []));
      expect(won).toHaveLength(1);
      tag = won[0]?.tag;
      expect((await control.read("control/race"))?.tag).toBe(tag);
    }
  });

  it("loses no increment of racing read-modify-write loops", async () => {
    const { control } = plane();
    const increment = async (): Promise<void> => {
      for (;;) {
        const record = await control.read("control/counter");
        const value = record === undefined ? 0 : Number(new TextDecoder().decode(record.value));
        const { outcome } = await control.compareAndSet("control/counter", record?.tag, text(`${value + 1}`));
        if (outcome === "written") return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, increment));
    expect((await control.read("control/counter"))?.value).toEqual(text("8"));
  });

  it("lists names by prefix, sorted and limited", async () => {
    const { control } = plane();
    const names = ["list/b", "list/a", "list/a/1", "list0", "lis", "list/é", "list/c"];
    await Promise.all(names.map((name) => control.compareAndSet(name, undefined, text("x"))));
    expect(await control.list("list/")).toEqual(["list/a", "list/a/1", "list/b", "list/c", "list/é"]);
    expect(await control.list("list/", 2)).toEqual(["list/a", "list/a/1"]);
    expect(await control.list("list/x")).toEqual([]);
  });

  it("keeps control records and cells apart", async () => {
    await plane().control.compareAndSet("apart", undefined, text("control"));
    const restored = await plane().restore(CELL_SPACES.map((space) => ({ space, key: text("apart") })));
    expect(restored).toEqual(CELL_SPACES.map(() => undefined));
  });

  it("sorts names as their UTF-8 bytes, and takes any limit", async () => {
    const { control } = plane();
    const names = ["sort/\uff5e", "sort/\u{10000}", "sort/z", "sort/Z", "sort/"];
    for (const name of names) await control.compareAndSet(name, undefined, text("x"));
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await control.list("sort/")).toEqual(sorted);
    for (const limit of [0, 1, 4, 5, 6]) expect(await control.list("sort/", limit)).toEqual(sorted.slice(0, limit));
  });

  it("lists more names than one answer carries", async () => {
    const { control } = plane();
    const names = Array.from({ length: 30 }, (_, index) => `many/${String(index).padStart(4, "0")}`);
    await Promise.all(names.map((name) => control.compareAndSet(name, undefined, text("x"))));
    expect(await control.list("many/")).toEqual(names);
    expect(await control.list("many/", 29)).toEqual(names.slice(0, 29));
  });

  it("takes the longest name and a large value, and refuses what is no name", async () => {
    const { control } = plane();
    const longest = `control/${"n".repeat(KEY_BYTES_MAX - 8)}`;
    const value = new Uint8Array(Math.min(1024 * 1024, options.valueBytesMax / 2)).fill(7);
    await control.compareAndSet(longest, undefined, value);
    expect(Buffer.compare((await control.read(longest))?.value ?? text(""), value)).toBe(0);
    for (const bad of ["", `${longest}n`]) {
      await expect((async () => control.read(bad))()).rejects.toBeInstanceOf(InvariantViolation);
      await expect((async () => control.compareAndSet(bad, undefined, text("x")))()).rejects.toBeInstanceOf(
        InvariantViolation,
      );
    }
  });

  it("gives a tag to one value of one record only", async () => {
    const { control } = plane();
    const tags: string[] = [];
    for (const name of ["tags/a", "tags/b"]) {
      let tag: string | undefined;
      for (let round = 0; round < 3; round += 1) {
        const outcome = await control.compareAndSet(name, tag, text("same"));
        tag = outcome.outcome === "written" ? outcome.record.tag : undefined;
        tags.push(tag ?? "none");
      }
    }
    expect(new Set(tags.slice(0, 3)).size).toBe(3);
    expect(new Set(tags.slice(3)).size).toBe(3);
  });
}
