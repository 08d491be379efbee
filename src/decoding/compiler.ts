import type { DecoderCompiler, DecoderSpec, RecordDecoder } from "../ports/decoder.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { DecodingLimits } from "./limits.ts";
import { compileJson, compileRaw } from "./plain-decoders.ts";
import { compileProtobuf } from "./protobuf-decoder.ts";

/**
 * Makes the compiler of decoders. `limits` overrides single defaults, for tests: limits decide verdicts.
 * What `compile` throws: StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID`.
 */
export function createDecoderCompiler(limits: Partial<DecodingLimits> = {}): DecoderCompiler {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return { compile: (spec) => compile(spec, all) };
}

function compile(spec: DecoderSpec, limits: DecodingLimits): RecordDecoder {
  switch (spec.format) {
    case "protobuf":
      return compileProtobuf(spec, limits);
    case "json":
      return compileJson(spec, limits);
    default:
      return compileRaw(spec);
  }
}
