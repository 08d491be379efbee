import type { Mapping } from "../../src/core/source.ts";
import { createDecoderCompiler } from "../../src/decoding/compiler.ts";
import type { DecodingLimits } from "../../src/decoding/limits.ts";
import type { DecoderSpec, InputType, KindInput, ProtoFiles, RecordDecoder } from "../../src/ports/decoder.ts";

/** The message that the hex inputs of the tests use. */
export const EXAMPLE = `
  syntax = "proto3";
  package t;
  message M {
    int64 big = 1; string s = 2; Inner inner = 3; repeated int32 nums = 4; E e = 5;
    oneof o { string os = 6; int32 oi = 7; Inner om = 15; }
    map<string, int32> m = 8; map<string, Inner> mm = 9; optional int32 opt = 10; uint32 u = 11;
    bytes b = 13; bool bo = 14;
  }
  message Inner { int32 a = 1; int32 b = 2; Inner child = 3; }
  enum E { ZERO = 0; ONE = 1; }
`;

export interface InputSpec {
  readonly path: readonly number[];
  readonly type: InputType;
  readonly required?: boolean;
}

/** Compiles a decoder for `message` of one file, with named inputs. */
export function compile(
  source: string | ProtoFiles,
  message: string,
  inputs: Readonly<Record<string, InputSpec>>,
  more: Partial<DecoderSpec> = {},
  limits: Partial<DecodingLimits> = {},
): RecordDecoder {
  const files = typeof source === "string" ? { "t.proto": source } : source;
  const kindInputs: KindInput[] = [];
  const mapping: Record<string, readonly number[]> = {};
  for (const [name, { path, type, required = false }] of Object.entries(inputs)) {
    kindInputs.push({ name, type, required });
    mapping[name] = path;
  }
  const fixed: Mapping = mapping;
  return createDecoderCompiler(limits).compile({
    format: "protobuf",
    framing: "none",
    descriptor: { descriptor: { subject: "t", version: 7, files }, message },
    inputs: kindInputs,
    mapping: fixed,
    body: "none",
    ...more,
  });
}

/** Bytes of a hex text; spaces may stand anywhere. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.replaceAll(" ", ""), "hex");
}

/** Decodes hex and gives the inputs, or the fault as `CODE path@offset`. */
export function inputsOf(decoder: RecordDecoder, hex: string): unknown {
  const result = decoder.decode(bytesOf(hex));
  return "code" in result ? `${result.code} ${result.path ?? ""}@${result.byteOffset ?? -1}` : result.inputs;
}

/** Decodes hex and gives the body as text, or the fault as `CODE path@offset`. */
export function bodyOf(decoder: RecordDecoder, hex: string): string {
  const result = decoder.decode(bytesOf(hex));
  if ("code" in result) return `${result.code} ${result.path ?? ""}@${result.byteOffset ?? -1}`;
  return Buffer.from(result.body?.bytes ?? []).toString();
}
