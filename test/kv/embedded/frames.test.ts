import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BrokenStream, FrameReader, encodeHead } from "../../../src/kv/embedded/frames.ts";

interface Frame {
  readonly head: { readonly text: string };
  readonly body: Buffer;
}

function encode({ head, body }: Frame): Buffer {
  return Buffer.concat([encodeHead(head, body.length), body]);
}

describe("frames", () => {
  it("come out as they went in, however the stream is cut", () => {
    const frame = fc.record({
      text: fc.string({ unit: "binary", maxLength: 20 }),
      body: fc.uint8Array({ maxLength: 30 }),
    });
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 12 })), (frames, cuts) => {
        const sent = frames.map(({ text, body }) => ({ head: { text }, body: Buffer.from(body) }));
        const bytes = Buffer.concat(sent.map(encode));
        const taken: Frame[] = [];
        const reader = new FrameReader<Frame["head"]>((head, body) => taken.push({ head, body }));
        let at = 0;
        for (let cut = 0; at < bytes.length; cut += 1) {
          const length = cuts.length === 0 ? bytes.length : (cuts[cut % cuts.length] ?? 1);
          // Overwritten afterwards, as a stream does with its buffer.
          const chunk = Buffer.from(bytes.subarray(at, at + length));
          reader.push(chunk);
          chunk.fill(0xee);
          at += length;
        }
        expect(taken).toEqual(sent);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("that make no sense break the stream before anything is reserved for them", () => {
    const push = (bytes: Buffer): void => new FrameReader(() => undefined).push(bytes);
    const prefix = (head: number, body: number): Buffer => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(head, 0);
      bytes.writeUInt32BE(body, 4);
      return bytes;
    };
    expect(() => push(prefix(0, 0))).toThrow(BrokenStream);
    expect(() => push(prefix(0xffff_ffff, 0))).toThrow(BrokenStream);
    expect(() => push(prefix(2, 0xffff_ffff))).toThrow(BrokenStream);
    expect(() => push(Buffer.concat([prefix(2, 0), Buffer.from("{x")]))).toThrow(BrokenStream);
    expect(() => push(prefix(2, 100))).not.toThrow();
  });
});
