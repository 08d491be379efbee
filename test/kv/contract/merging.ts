import * as fc from "fast-check";
import { expect, it } from "vitest";
import { compareOrdered, encodeDocumentCell } from "../../../src/core/cell.ts";
import { CELL_SPACES, type CellWrite, KEY_BYTES_MAX, type KvPlane } from "../../../src/ports/kv-plane.ts";
import { cell, freshKey, text } from "./cells.ts";

/** Which of two cells stays. */
export function describeMerging(plane: () => KvPlane): void {
  it("answers absent for a key that nobody wrote", async () => {
    expect(await plane().restore([{ space: "document", key: freshKey() }])).toEqual([undefined]);
  });

  it("keeps the larger order, whichever comes first", async () => {
    const key = freshKey();
    await plane().write([cell(key, 9, "nine")]);
    await plane().write([cell(key, 8, "eight")]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 9, bytes: text("nine") }]);
    await plane().write([cell(key, 10, "")]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 10, bytes: text("") }]);
  });

  it("keeps the larger bytes at one order, unsigned, a prefix being smaller", async () => {
    const key = freshKey();
    for (const bytes of [[0x7f], [0x80], [0x80, 0x00], [0x7f, 0xff], [0x80]]) {
      await plane().write([cell(key, 5, Uint8Array.from(bytes))]);
    }
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 5, bytes: Uint8Array.of(0x80, 0x00) }]);
  });

  it("lets a later revision, and a tombstone over a live record, win at one version", async () => {
    const key = freshKey();
    const base = { partition: 3, descriptorVersion: 1, timestampMs: -1 };
    const live = encodeDocumentCell({
      ...base,
      revision: 4,
      state: "live",
      bodyFormat: "json",
      body: text('{"z":"zzz"}'),
    });
    const gone = encodeDocumentCell({ ...base, revision: 4, state: "deleted", bodyFormat: "none", body: text("") });
    const replayed = encodeDocumentCell({ ...base, revision: 5, state: "live", bodyFormat: "json", body: text("{}") });
    await plane().write([cell(key, 77, live), cell(key, 77, gone)]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 77, bytes: gone }]);
    await plane().write([cell(key, 77, replayed)]);
    await plane().write([cell(key, 77, gone)]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: 77, bytes: replayed }]);
  });

  it("keeps orders up to 2^53 − 1 exactly", async () => {
    const key = freshKey();
    const largest = Number.MAX_SAFE_INTEGER;
    await plane().write([cell(key, largest - 1, "b"), cell(key, largest, "a"), cell(key, 2 ** 32, "c")]);
    expect(await plane().restore([cell(key, 0, "")])).toEqual([{ order: largest, bytes: text("a") }]);
  });

  it("keeps the spaces apart", async () => {
    const key = freshKey();
    await plane().write(CELL_SPACES.map((space, index) => ({ space, key, order: index + 1, bytes: text(space) })));
    const restored = await plane().restore(CELL_SPACES.map((space) => ({ space, key })));
    expect(restored).toEqual(CELL_SPACES.map((space, index) => ({ order: index + 1, bytes: text(space) })));
  });

  it("tells odd keys apart", async () => {
    const keys = [
      new Uint8Array(0),
      Uint8Array.of(0),
      Uint8Array.of(0, 0),
      Uint8Array.of(0xff),
      Uint8Array.of(0xff, 0xff),
      text("é"),
      new Uint8Array(KEY_BYTES_MAX).fill(0xff),
      new Uint8Array(KEY_BYTES_MAX),
      new Uint8Array(KEY_BYTES_MAX - 1).fill(0xff),
    ];
    await plane().write(keys.map((key, index) => ({ space: "dial", key, order: index + 1, bytes: text(`${index}`) })));
    const restored = await plane().restore(keys.map((key) => ({ space: "dial", key })));
    expect(restored).toEqual(keys.map((_, index) => ({ order: index + 1, bytes: text(`${index}`) })));
  });

  it("keeps the slot of the larger offset, whole, and the copy of the larger watermark", async () => {
    const key = freshKey();
    for (const space of ["slot", "copy"] as const) {
      await plane().write([{ space, key, order: 41, bytes: text("forty, 9 events") }]);
      await plane().write([{ space, key, order: 12, bytes: text("zzz twelve, 99 events") }]);
      expect(await plane().restore([{ space, key }])).toEqual([{ order: 41, bytes: text("forty, 9 events") }]);
    }
  });

  it("tells keys apart where UTF-8 does, and counts their bytes", async () => {
    const longest = "é".repeat(KEY_BYTES_MAX / 2);
    const names = ["\u007f", "\u0080", "\u07ff", "\u0800", "\uffff", "\u{10000}", "\u{10ffff}", "e\u0301", longest];
    const keys = names.map((name) => text(`utf-8 ${name}`).subarray(name === longest ? 6 : 0));
    await plane().write(keys.map((key, index) => cell(key, index + 1, `${index}`)));
    const restored = await plane().restore(keys.map((key) => ({ space: "document", key })));
    expect(restored.map((answer) => answer?.order)).toEqual(keys.map((_, index) => index + 1));
  });

  it("comes to the same, however writes are ordered and cut into batches", async () => {
    const change = fc.tuple(fc.nat(1), fc.nat(2), fc.uint8Array({ maxLength: 2 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
        async (batches) => {
          const keys = [freshKey(), freshKey()];
          const toCells = (changes: readonly [number, number, Uint8Array][]): CellWrite[] =>
            changes.map(([key, order, bytes]) => cell(keys[key] ?? freshKey(), order, bytes));
          const written = batches.map(toCells);
          for (const batch of written) await plane().write(batch);
          const largest = keys.map((key) =>
            written
              .flat()
              .filter((one) => one.key === key)
              .toSorted(compareOrdered)
              .at(-1),
          );
          const restored = await plane().restore(keys.map((key) => ({ space: "document", key })));
          expect(restored).toEqual(largest.map((one) => one && { order: one.order, bytes: one.bytes }));
        },
      ),
      { seed: 3, numRuns: 15 },
    );
  });
}
