import type { DecoderCompiler } from "../ports/decoder.ts";
import { compileDecoder } from "./compile-decoder.ts";
import { compileInputs } from "./input-view.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { DecodingLimits } from "./limits.ts";

/**
 * Makes the compiler of decoders. `limits` overrides single defaults, for tests: limits decide verdicts.
 * What both of its calls throw: StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID`.
 */
export function createDecoderCompiler(limits: Partial<DecodingLimits> = {}): DecoderCompiler {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return { compile: (spec) => compileDecoder(spec, all), compileInputs: (spec) => compileInputs(spec, all) };
}
