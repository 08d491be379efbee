import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { PAGE_ENTRIES, PagedLog, parsePlace, placeText } from "../../src/control/paged-log.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

const Entry = Type.Object({ n: Type.Integer(), done: Type.Boolean() });

function log(plane = new MemoryPlane()) {
  // A control store object of its own: another instance, which changes of this process do not wait for.
  const paged = new PagedLog({ ...plane.control }, Entry);
  const append = async (n: number) => {
    const { page, entries } = await paged.change("log", (present) => [...present, { n, done: false }]);
    return { page, index: entries.length - 1 };
  };
  const all = async () => {
    const open = await paged.openPage("log");
    const numbers: number[] = [];
    for (let page = 0; page <= open.page; page += 1) {
      numbers.push(...(await paged.page("log", page)).entries.map(({ n }) => n));
    }
    return numbers;
  };
  return { plane, paged, append, all };
}

const COUNT = PAGE_ENTRIES * 2 + 5;
const NUMBERS = Array.from({ length: COUNT }, (_unused, n) => n);

describe("a list that grows for ever", () => {
  it("keeps every record small, and every entry where it was placed", async () => {
    const { plane, paged, append, all } = log();
    const places = [];
    for (const n of NUMBERS) places.push(await append(n));
    expect(await all()).toEqual(NUMBERS);
    for (const [n, place] of places.entries()) {
      expect((await paged.page("log", place.page)).entries[place.index]?.n).toBe(n);
    }
    const sizes = [...plane.records.values()].map(({ value }) => value.length);
    expect(Math.max(...sizes)).toBeLessThan(PAGE_ENTRIES * 40);
    expect([...plane.records.keys()]).toEqual(["log", "log/0", "log/1"]);
  });

  it("loses nothing when several append at once", async () => {
    const plane = new MemoryPlane();
    const [one, other] = [log(plane), log(plane)];
    await Promise.all(NUMBERS.map((n) => (n % 2 === 0 ? one : other).append(n)));
    expect((await one.all()).toSorted((a, b) => a - b)).toEqual(NUMBERS);
  });

  it("loses and doubles nothing when a process dies at any write while a page closes", async () => {
    for (let die = 1; die <= 4; die += 1) {
      const { plane, append, all } = log();
      for (let n = 0; n < PAGE_ENTRIES; n += 1) await append(n);
      let writes = 0;
      plane.before = (call) => {
        if (call === "set" && (writes += 1) >= die) throw new KvFault("KV_CLOSED", "dead");
      };
      await append(PAGE_ENTRIES).catch(() => undefined);
      plane.before = () => {};
      if (!(await all()).includes(PAGE_ENTRIES)) await append(PAGE_ENTRIES);
      expect(await all(), `died at write ${die}`).toEqual(NUMBERS.slice(0, PAGE_ENTRIES + 1));
    }
  });

  it("an entry is changed where it stands, in an open page, in a closed one, and while its page closes", async () => {
    const { plane, paged, append } = log();
    const places = [];
    for (let n = 0; n < PAGE_ENTRIES; n += 1) places.push(await append(n));
    const [first] = places;
    if (first === undefined) throw new Error("appended");
    let closing = false;
    const other = log(plane);
    // 1. the change has read the open page; 2. another closes it; 3. the change's compare-and-set meets another record.
    plane.before = async (call, name) => {
      if (call !== "set" || name !== "log" || closing) return;
      closing = true;
      await other.append(PAGE_ENTRIES);
    };
    await paged.amend("log", first, (entry) => ({ ...entry, done: true }));
    expect(closing).toBe(true);
    expect((await paged.page("log", 0)).entries[0]).toEqual({ n: 0, done: true });
    await paged.amend("log", { page: 0, index: 3 }, (entry) => ({ ...entry, done: true }));
    expect((await paged.page("log", 0)).entries.filter(({ done }) => done)).toHaveLength(2);
    await paged.amend("log", { page: 9, index: 3 }, () => {
      throw new Error("there is none");
    });
  });

  it("spells places, and takes nothing else for one", () => {
    expect(parsePlace(placeText({ page: 12, index: 3 }))).toEqual({ page: 12, index: 3 });
    for (const text of ["", "1", "-1-2", "01-2", "1-2-3", "1-x", "9999999999-0"])
      expect(parsePlace(text)).toBeUndefined();
  });
});
