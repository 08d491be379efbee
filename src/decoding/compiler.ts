import type { DecoderCompiler } from "../ports/decoder.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { DecodingLimits } from "./limits.ts";
import { compileProtobuf } from "./protobuf-decoder.ts";

/** Makes the compiler of decoders. `limits` overrides single defaults, for tests. */
export function createDecoderCompiler(limits: Partial<DecodingLimits> = {}): DecoderCompiler {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return {
    compile: (spec) => compileProtobuf(spec, all),
  };
}
