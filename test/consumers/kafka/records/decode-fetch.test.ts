import { gzipSync } from "node:zlib";

import { compressFrameSync } from "lz4-napi";
import { compressSync } from "snappy";
import { describe, expect, it } from "vitest";

import { decodeFetch, type DecodedFetch, type DecodeLimits } from "../../../../consumers/kafka/records/decode-fetch.ts";
import type { AbortedTransaction } from "../../../../consumers/kafka/records/aborted.ts";
import { craft, numbered } from "../support/batch-builder.ts";

const LIMITS: DecodeLimits = { batchInflatedBytesMax: 1 << 20, fetchInflatedBytes: 1 << 20 };

function decode(
  parts: readonly Buffer[],
  position = 0,
  aborted: readonly AbortedTransaction[] = [],
  limits = LIMITS,
): DecodedFetch {
  return decodeFetch({ bytes: Buffer.concat(parts), position, aborted }, limits);
}

function values({ columns }: DecodedFetch): string[] {
  return Array.from({ length: columns.count }, (_, index) => Buffer.from(columns.valueAt(index) ?? []).toString());
}

function offsets({ columns }: DecodedFetch): number[] {
  return Array.from({ length: columns.count }, (_, index) => columns.offsetAt(index));
}

function xerial(records: Buffer): Buffer {
  const half = Math.floor(records.length / 2);
  const block = (bytes: Buffer): Buffer[] => {
    const deflated = compressSync(bytes);
    const length = Buffer.alloc(4);
    length.writeInt32BE(deflated.length);
    return [length, deflated];
  };
  const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  return Buffer.concat([header, ...block(records.subarray(0, half)), ...block(records.subarray(half))]);
}

describe("epochs of leaders", () => {
  const under = (epoch: number, base: number): Buffer => {
    const bytes = craft({ base, records: numbered(base, 5) });
    bytes.writeInt32BE(epoch, 12);
    return bytes;
  };

  it("are those of the first batch that reaches the position and of the last, whole ones alone", () => {
    const parts = [under(1, 0), under(2, 5), under(4, 10), under(7, 15).subarray(0, 70)];
    expect(decode(parts).leaderEpochs).toEqual({ first: 1, last: 4 });
    expect(decode(parts, 7).leaderEpochs).toEqual({ first: 2, last: 4 });
    expect(decode([under(-1, 0)]).leaderEpochs).toBeUndefined();
    expect(decode([]).leaderEpochs).toBeUndefined();
  });
});

describe("whole batches", () => {
  it("reads keys, values, timestamps and headers exactly", () => {
    const headers = [
      { name: Buffer.from("a"), value: Buffer.from("1") },
      { name: Uint8Array.of(0xff), value: null },
      { name: Buffer.from("a"), value: Buffer.alloc(0) },
    ];
    const record = { key: Uint8Array.of(0xc3, 0x28), value: null, headers, timestampMs: 1_700_000_000_000 };
    const tail = { key: null, value: "", timestampMs: 1_699_999_999_000 };
    const { columns, next, fault } = decode([craft({ base: 7, records: [record, tail] })], 7);
    expect([columns.count, next, fault]).toEqual([2, 9, undefined]);
    expect([...(columns.keyAt(0) ?? [])]).toEqual([0xc3, 0x28]);
    expect(columns.valueAt(0)).toBeNull();
    expect(columns.keyAt(1)).toBeNull();
    expect(columns.valueAt(1)).toHaveLength(0);
    expect([columns.timestampAt(0), columns.timestampAt(1)]).toEqual([1_700_000_000_000, 1_699_999_999_000]);
    expect(columns.headersAt(0).map(({ name, value }) => [[...name], value && [...value]])).toEqual([
      [[97], [49]],
      [[0xff], null],
      [[97], []],
    ]);
    expect(columns.headersAt(1)).toEqual([]);
    expect(() => columns.valueAt(2)).toThrow(RangeError);
  });

  it("takes the broker's time where the batch says so, and −1 where there is none", () => {
    const stamped = craft({ base: 0, records: [{ value: "a", timestampMs: 5 }], appendTimestampMs: 99 });
    const none = craft({ base: 1, records: [{ value: "b", timestampMs: -1 }] });
    const { columns } = decode([stamped, none]);
    expect([columns.timestampAt(0), columns.timestampAt(1)]).toEqual([99, -1]);
  });

  it("reads offsets beyond 2^32 and timestamps that need a long", () => {
    const base = 2 ** 40 - 5;
    const far = [
      { value: "a", timestampMs: 0 },
      { value: "b", timestampMs: 2 ** 45 },
      { value: "c", timestampMs: -(2 ** 45) },
    ];
    const decoded = decode([craft({ base, records: far })], base);
    expect(offsets(decoded)).toEqual([base, base + 1, base + 2]);
    expect([1, 2].map((index) => decoded.columns.timestampAt(index))).toEqual([2 ** 45, -(2 ** 45)]);
  });

  it("leaves out what is below the position, inside a batch and before it", () => {
    const decoded = decode(
      [craft({ base: 0, records: numbered(0, 3) }), craft({ base: 3, records: numbered(3, 4) })],
      5,
    );
    expect(values(decoded)).toEqual(["v5", "v6"]);
    expect(decoded.next).toBe(7);
  });

  it("passes compacted holes and empty batches", () => {
    const holes = craft({
      base: 10,
      records: [
        { delta: 2, value: "a" },
        { delta: 5, value: "b" },
      ],
      lastDelta: 989,
    });
    const empty = craft({ base: 1_000, records: [], lastDelta: 9, count: 0 });
    const decoded = decode([holes, empty]);
    expect(offsets(decoded)).toEqual([12, 15]);
    expect(decoded.next).toBe(1_010);
    expect(decode([empty], 1_000)).toMatchObject({ next: 1_010, fault: undefined });
  });

  it("ignores a batch that the broker's size limit has cut, behind whole ones", () => {
    const whole = craft({ base: 0, records: numbered(0, 2) });
    const cut = craft({ base: 2, records: numbered(2, 2) });
    for (const length of [1, 11, 30, cut.length - 1]) {
      expect(decode([whole, cut.subarray(0, length)])).toMatchObject({ next: 2, fault: undefined });
    }
    expect(decode([cut.subarray(0, 40)], 2)).toMatchObject({ next: 2, fault: { code: "batch-too-large" } });
    expect(decode([], 5)).toMatchObject({ next: 5, fault: undefined });
  });

  it("reads 140,000 records in one batch", () => {
    const records = Array.from({ length: 140_000 }, () => ({ value: "x" }));
    const decoded = decode([craft({ base: 0, records })], 0, [], {
      batchInflatedBytesMax: 1 << 24,
      fetchInflatedBytes: 1 << 24,
    });
    expect([decoded.columns.count, decoded.next, decoded.fault]).toEqual([140_000, 140_000, undefined]);
  });
});

describe("compression", () => {
  const codecs = [
    { name: "gzip", number: 1, deflate: (records: Buffer) => gzipSync(records) },
    { name: "snappy raw", number: 2, deflate: (records: Buffer) => compressSync(records) },
    { name: "snappy xerial", number: 2, deflate: xerial },
    { name: "lz4", number: 3, deflate: (records: Buffer) => compressFrameSync(records) },
  ];

  for (const codec of codecs) {
    it(`reads ${codec.name}, beside uncompressed batches`, () => {
      const batches = [
        craft({ base: 0, records: numbered(0, 50), codec }),
        craft({ base: 50, records: numbered(50, 3) }),
        craft({ base: 53, records: numbered(53, 50), codec }),
      ];
      const decoded = decode(batches, 20);
      expect(values(decoded)).toEqual(Array.from({ length: 83 }, (_, index) => `v${20 + index}`));
      expect([decoded.next, decoded.fault]).toEqual([103, undefined]);
    });

    it(`refuses ${codec.name} that inflates beyond the limit, and what does not inflate`, () => {
      const good = craft({ base: 0, records: numbered(0, 2) });
      const bomb = craft({ base: 2, records: [{ value: Buffer.alloc(3 << 20) }], codec });
      expect(decode([good, bomb])).toMatchObject({ next: 2, fault: { code: "batch-too-large" } });
      const damaged = craft({ base: 2, records: [], count: 1, codec, body: Buffer.from("no such thing as this") });
      const decoded = decode([good, damaged]);
      expect(decoded).toMatchObject({ next: 2, fault: { code: "undecodable" } });
      expect(values(decoded)).toEqual(["v0", "v1"]);
    });
  }

  it("refuses an unknown codec by name", () => {
    const codec = { number: 6, deflate: (records: Buffer) => records };
    const decoded = decode([
      craft({ base: 0, records: numbered(0, 1) }),
      craft({ base: 1, records: numbered(1, 1), codec }),
    ]);
    expect(decoded).toMatchObject({
      next: 1,
      fault: { code: "codec-missing", text: "compression codec 6 is not known" },
    });
  });

  it("stops a fetch at its budget and leaves the rest to the next", () => {
    const [codec] = codecs;
    const big = (base: number): Buffer =>
      craft({ base, records: [{ value: Buffer.alloc(600_000) }], ...(codec && { codec }) });
    const decoded = decode([big(0), big(1), big(2), big(3)]);
    expect([decoded.columns.count, decoded.next, decoded.fault]).toEqual([2, 2, undefined]);
  });
});

describe("damage", () => {
  const good = craft({ base: 0, records: numbered(0, 2) });

  function expectFault(bad: Buffer, code: string, text: RegExp): void {
    const decoded = decode([good, bad, craft({ base: 9, records: numbered(9, 1) })]);
    expect(decoded).toMatchObject({ next: 2, fault: { code, text: expect.stringMatching(text) } });
    expect(values(decoded)).toEqual(["v0", "v1"]);
  }

  it("gives the good prefix and the exact position for every kind of damage", () => {
    const flipped = craft({ base: 2, records: numbered(2, 2) });
    flipped[70] = (flipped[70] ?? 0) ^ 1;
    expectFault(flipped, "checksum", /CRC/);
    expectFault(craft({ base: 2, records: numbered(2, 2), magic: 1 }), "undecodable", /message format 1/);
    expectFault(craft({ base: 2, records: numbered(2, 2), magic: 3 }), "undecodable", /magic 3/);
    expectFault(
      craft({ base: 2, records: numbered(2, 2), count: 1_000, lastDelta: 2_000 }),
      "undecodable",
      /1000 records/,
    );
    expectFault(craft({ base: 2, records: numbered(2, 2), count: 3 }), "undecodable", /3 records in 2 offsets/);
    expectFault(craft({ base: 2, records: numbered(2, 2), count: 1 }), "undecodable", /bytes are left/);
    expectFault(craft({ base: 1, records: numbered(1, 2) }), "undecodable", /follows one that ends at 2/);
    const backwards = [
      { delta: 1, value: "a" },
      { delta: 0, value: "b" },
    ];
    expectFault(craft({ base: 2, records: backwards }), "undecodable", /out of order/);
    expectFault(craft({ base: 2, records: [{ delta: 5, value: "a" }] }), "undecodable", /out of order/);
  });

  it("refuses a length that cannot be, instead of waiting for more", () => {
    const negative = craft({ base: 2, records: numbered(2, 1) });
    negative.writeInt32BE(-5, 8);
    expectFault(negative, "undecodable", /length of/);
  });

  it("never throws and never reads beyond the bytes, whatever they are", () => {
    const seed = craft({
      base: 2,
      records: [{ key: "k", value: "value", headers: [{ name: Buffer.from("h"), value: null }] }],
    });
    const body = seed.subarray(61);
    for (let at = 0; at < body.length; at += 1) {
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
        const bent = Buffer.from(body);
        bent[at] = byte;
        const decoded = decode([good, craft({ base: 2, records: [{}], body: bent })]);
        expect([2, 3]).toContain(decoded.next);
        for (let index = 0; index < decoded.columns.count; index += 1) decoded.columns.headersAt(index);
      }
    }
  });
});

describe("transactions", () => {
  const data = (base: number, producerId: bigint, count = 2): Buffer =>
    craft({ base, records: numbered(base, count), transactional: true, producerId });
  const marker = (base: number, producerId: bigint, control: "abort" | "commit"): Buffer =>
    craft({ base, records: [], control, producerId });

  it("passes control records and leaves aborted transactions out", () => {
    const log = [
      data(0, 1n),
      marker(2, 1n, "commit"),
      data(3, 1n),
      marker(5, 1n, "abort"),
      craft({ base: 6, records: numbered(6, 1) }),
    ];
    const decoded = decode(log, 0, [{ producerId: 1n, firstOffset: 3 }]);
    expect(values(decoded)).toEqual(["v0", "v1", "v6"]);
    expect(decoded.next).toBe(7);
    const tail = decode(log.slice(0, 2), 0);
    expect([values(tail), tail.next]).toEqual([["v0", "v1"], 3]);
  });

  it("keeps overlapping transactions apart that began before the position, in whatever order they are listed", () => {
    const log = [
      data(10, 1n),
      data(12, 2n),
      data(14, 3n),
      marker(16, 2n, "abort"),
      data(17, 2n),
      data(19, 1n),
      marker(21, 1n, "abort"),
    ];
    const aborted = [
      { producerId: 2n, firstOffset: 4 },
      { producerId: 1n, firstOffset: 2 },
    ];
    const decoded = decode(log, 10, aborted);
    expect(values(decoded)).toEqual(["v14", "v15", "v17", "v18"]);
    expect(decoded.next).toBe(22);
  });

  it("ends a transaction at its producer's marker alone, not at a record that looks like one", () => {
    const decoy = craft({
      base: 2,
      records: [{ key: Buffer.from([0, 0, 0, 0]), value: "decoy" }, { value: "after" }],
      transactional: true,
      producerId: 1n,
    });
    const log = [
      data(0, 1n),
      decoy,
      marker(4, 2n, "abort"),
      data(5, 1n),
      marker(7, 1n, "commit"),
      data(8, 1n),
      marker(10, 1n, "abort"),
    ];
    const decoded = decode(log, 0, [{ producerId: 1n, firstOffset: 0 }]);
    expect(values(decoded)).toEqual([]);
    expect(decoded.next).toBe(11);
  });

  it("starts at markers", () => {
    const log = [marker(5, 1n, "abort"), craft({ base: 6, records: numbered(6, 1) }), marker(7, 9n, "commit")];
    for (const aborted of [[], [{ producerId: 1n, firstOffset: 2 }]]) {
      expect([values(decode(log, 5, aborted)), decode(log, 5, aborted).next]).toEqual([["v6"], 8]);
    }
    expect(decode(log.slice(2), 7)).toMatchObject({ next: 8, fault: undefined });
  });

  it("does not take a record outside a transaction for an aborted one of the same producer", () => {
    const plain = craft({ base: 2, records: numbered(2, 1), producerId: 1n });
    expect(values(decode([plain], 0, [{ producerId: 1n, firstOffset: 0 }]))).toEqual(["v2"]);
  });
});
