import type { InputView } from "../../src/core/counting/inputs.ts";
import type { DecoderSpec, InputsReader } from "../../src/ports/decoder.ts";

const BAR = 0x7c;

/**
 * Reads inputs from text: one field per input of the kind, in its order, with bars between. An empty field is absent; a value
 * without a bar is poison.
 */
export function textInputs({ inputs }: Pick<DecoderSpec, "inputs">): InputsReader {
  const starts = inputs.map(() => 0);
  const ends = inputs.map(() => 0);
  let bytes: Uint8Array = new Uint8Array(0);
  const text = (input: number) => Buffer.from(bytes.subarray(starts[input], ends[input])).toString();
  const integer = (input: number) => BigInt.asUintN(64, BigInt(text(input) || "0"));
  const view: InputView = {
    get bytes() {
      return bytes;
    },
    has: (input) => (ends[input] ?? 0) > (starts[input] ?? 0),
    start: (input) => starts[input] ?? 0,
    end: (input) => ends[input] ?? 0,
    number: (input) => Number(text(input)),
    high: (input) => Number(integer(input) >> 32n),
    low: (input) => Number(integer(input) & 0xffff_ffffn),
    negative: (input) => text(input).startsWith("-"),
  };
  return {
    view,
    descriptorVersion: 0,
    unknownFields: () => new Map(),
    read: (value) => {
      if (!value.includes(BAR)) return { code: "DECODE_TEST", text: "poison" };
      bytes = value;
      let at = 0;
      for (const input of inputs.keys()) {
        starts[input] = at;
        const bar = value.indexOf(BAR, at);
        ends[input] = bar === -1 ? value.length : bar;
        at = bar === -1 ? value.length : bar + 1;
      }
      return undefined;
    },
  };
}
