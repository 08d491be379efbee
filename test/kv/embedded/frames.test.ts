import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BrokenStream, FrameReader, encodeHead } from "../../../src/kv/embedded/frames.ts";

interface Frame {
  readonly head: unknown;
  readonly body: Buffer;
}

const frames = fc.array(
  fc.record({ head: fc.oneof(fc.record({ kind: fc.string(), id: fc.nat() }), fc.string()), body: fc.uint8Array() }),
  { maxLength: 6 },
);

function encode({ head, body }: Frame): Buffer {
  return Buffer.concat([encodeHead(head, body.length), body]);
}

function readAll(chunks: readonly Buffer[]): Frame[] {
  const read: Frame[] = [];
  const reader = new FrameReader<unknown>((head, body) => read.push({ head, body }));
  for (const chunk of chunks) reader.push(chunk);
  return read;
}

describe("frames", () => {
  it("come out as they went in, however the stream was cut", () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(400)), (sent, cuts) => {
        const given = sent.map(({ head, body }) => ({ head, body: Buffer.from(body) }));
        const stream = Buffer.concat(given.map((frame) => encode(frame)));
        const places = [0, ...cuts.map((cut) => cut % (stream.length + 1)).toSorted((a, b) => a - b), stream.length];
        const chunks = places.slice(1).map((place, index) => stream.subarray(places[index], place));
        expect(readAll(chunks)).toEqual(given);
        expect(readAll(Array.from(stream, (byte) => Buffer.of(byte)))).toEqual(given);
        let read = 0;
        const ends = new Set([0, ...given.map((frame) => (read += encode(frame).length))]);
        const reader = new FrameReader<unknown>(() => undefined);
        for (const [index, chunk] of chunks.entries()) {
          reader.push(chunk);
          expect(reader.cut).toBe(!ends.has(places[index + 1] ?? 0));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("have bodies of their own, which the stream's buffers being used again does not change", () => {
    const chunk = encode({ head: "h", body: Buffer.from("body") });
    const [frame] = readAll([chunk]);
    chunk.fill(0);
    expect(frame?.body.toString()).toBe("body");
  });

  it("of lengths that nobody sends, or with a head that is no JSON, are a broken stream", () => {
    const prefix = (head: number, body: number): Buffer => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(head, 0);
      bytes.writeUInt32BE(body, 4);
      return bytes;
    };
    for (const bad of [
      prefix(0, 0),
      prefix(64 * 1024 + 1, 0),
      prefix(2, 2 ** 31),
      Buffer.concat([prefix(1, 0), Buffer.from("{")]),
    ]) {
      expect(() => readAll([bad])).toThrow(BrokenStream);
    }
  });
});
