import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type OrderedBytes, compareOrdered } from "../../../src/core/cell.ts";
import { mergePage } from "../../../src/kv/embedded/ranges.ts";
import { keyText } from "../../../src/kv/embedded/protocol.ts";
import { packCells, storeKey } from "../../../src/kv/embedded/wire.ts";
import type { CellWrite } from "../../../src/ports/kv-plane.ts";
import { MemoryStore } from "./memory-owner.ts";

const key = fc.uint8Array({ minLength: 1, maxLength: 2 }).map((bytes) => bytes.map((byte) => byte & 0x83));
const cells = fc.array(
  fc
    .record({ key, order: fc.nat(3), byte: fc.nat(1) })
    .map(({ byte, ...cell }): CellWrite => ({ space: "slot", ...cell, bytes: Uint8Array.of(byte) })),
  { maxLength: 12 },
);

function storeOf(writes: readonly CellWrite[]): MemoryStore {
  const store = new MemoryStore();
  const buffer = Buffer.alloc(4_096);
  store.merge(buffer.subarray(0, packCells(writes, 0, buffer).length));
  return store;
}

/** The largest cell of each key of a range, by key. */
function largest(writes: readonly CellWrite[], from: Uint8Array, to: Uint8Array): readonly CellWrite[] {
  const most = new Map<string, CellWrite>();
  for (const cell of writes) {
    const name = keyText(cell.key);
    const before: OrderedBytes | undefined = most.get(name);
    if (before === undefined || compareOrdered(cell, before) > 0) most.set(name, cell);
  }
  return [...most.values()]
    .filter((cell) => Buffer.compare(from, cell.key) <= 0 && Buffer.compare(cell.key, to) < 0)
    .toSorted((a, b) => Buffer.compare(a.key, b.key));
}

it("comes to the merge of all answers, wherever each owner's pages end, and writes back what too few have", () => {
  fc.assert(
    fc.property(
      fc.array(cells, { minLength: 1, maxLength: 3 }),
      fc.record({ from: key, to: key, limit: fc.integer({ min: 1, max: 5 }), bytes: fc.nat(120) }),
      (owners, { from, to, limit, bytes }) => {
        const stores = owners.map(storeOf);
        const met: unknown[] = [];
        const writtenBack: string[] = [];
        let next: Uint8Array | undefined = from;
        for (let pages = 0; next !== undefined; pages += 1) {
          expect(pages).toBeLessThanOrEqual(40);
          const scan = { space: "slot", from: next, to, limit } as const;
          const asked = {
            from: keyText(storeKey({ ...scan, key: next })),
            to: keyText(storeKey({ ...scan, key: to })),
          };
          // Each owner ends where it likes.
          const answers = stores.map((store, index) => store.range({ ...asked, limit, bytes: bytes * (index + 1) }));
          const page = mergePage(answers, scan, 2);
          met.push(...page.cells);
          writtenBack.push(...page.writeBack.map((cell) => keyText(cell.key)));
          next = page.next;
        }
        const due = largest(owners.flat(), from, to);
        expect(met).toEqual(due.map(({ key: of, order, bytes: value }) => ({ key: of, order, bytes: value })));
        const holders = (cell: CellWrite): number =>
          owners.filter((own) =>
            largest(own, from, to).some(
              (one) => compareOrdered(one, cell) === 0 && keyText(one.key) === keyText(cell.key),
            ),
          ).length;
        expect(writtenBack).toEqual(due.filter((cell) => holders(cell) < 2).map((cell) => keyText(cell.key)));
      },
    ),
    { seed: 7, numRuns: 400 },
  );
});
