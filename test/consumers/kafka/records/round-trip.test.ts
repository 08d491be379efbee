import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeFetch } from "../../../../consumers/kafka/records/decode-fetch.ts";
import { encodeBatch, type RecordToEncode } from "../../../../consumers/kafka/records/encode-batch.ts";
import { ByteReader } from "../../../../consumers/kafka/records/byte-reader.ts";
import { runScript } from "../support/run-script.ts";

const LIMITS = { batchInflatedBytesMax: 1 << 20, fetchInflatedBytes: 1 << 20 };
const bytes = fc.uint8Array({ maxLength: 40 });
const nullable = fc.option(bytes, { nil: null });
const record: fc.Arbitrary<RecordToEncode> = fc.record({
  key: nullable,
  value: nullable,
  headers: fc.array(fc.record({ name: bytes, value: nullable }), { maxLength: 4 }),
  timestampMs: fc.integer({ min: 0, max: 2 ** 47 }),
});

const list = (field: Uint8Array | null): number[] | null => (field === null ? null : [...field]);
const plain = ({ key, value, headers, timestampMs }: RecordToEncode): object => ({
  key: list(key),
  value: list(value),
  headers: headers.map((header) => ({ name: list(header.name), value: list(header.value) })),
  timestampMs,
});

describe("records", () => {
  it("are read as they were encoded", () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), (records) => {
        const { columns, next, fault } = decodeFetch({ bytes: encodeBatch(records), position: 0, aborted: [] }, LIMITS);
        expect([next, fault]).toEqual([records.length, undefined]);
        const read = records.map((_, index) => ({
          key: columns.keyAt(index),
          value: columns.valueAt(index),
          headers: columns.headersAt(index),
          timestampMs: columns.timestampAt(index),
        }));
        expect(read.map(plain)).toEqual(records.map(plain));
      }),
      { numRuns: 200 },
    );
  });

  it("are read by kafkajs itself as they were encoded", async () => {
    const headers = [
      { name: Buffer.from("h"), value: Buffer.from("1") },
      { name: Buffer.from("h"), value: Buffer.from("2") },
    ];
    const records = [
      { key: Buffer.from("k"), value: null, headers, timestampMs: 1_000 },
      { key: null, value: Buffer.from("v"), headers: [], timestampMs: 5_000 },
    ];
    const script = `
      const Decoder = require("kafkajs/src/protocol/decoder");
      require("kafkajs/src/protocol/recordBatch/v0/decoder")(new Decoder(Buffer.from(process.argv[1], "hex"))).then(({ records }) =>
        console.log(JSON.stringify(records.map(({ key, value, headers, offset, timestamp }) =>
          [String(key), String(value), String(headers.h), offset, timestamp]))));`;
    const { output } = await runScript(script, [encodeBatch(records).toString("hex")]);
    expect(JSON.parse(output)).toEqual([
      ["k", "null", "1,2", "0", "1000"],
      ["null", "v", "undefined", "1", "5000"],
    ]);
  });

  it("read variable-length numbers to their limits", () => {
    const cases: ReadonlyArray<readonly [number[], number]> = [
      [[0x00], 0],
      [[0x01], -1],
      [[0x02], 1],
      [[0xfe, 0xff, 0xff, 0xff, 0x0f], 2 ** 31 - 1],
      [[0xff, 0xff, 0xff, 0xff, 0x0f], -(2 ** 31)],
    ];
    for (const [encoded, value] of cases) {
      expect(new ByteReader(Uint8Array.from(encoded)).varint()).toBe(value);
      expect(new ByteReader(Uint8Array.from(encoded)).varlong()).toBe(value);
    }
    const endless = Uint8Array.from({ length: 12 }, () => 0xff);
    expect(() => new ByteReader(endless).varint()).toThrow(/varint/);
    expect(() => new ByteReader(endless).varlong()).toThrow(/varlong/);
  });
});
