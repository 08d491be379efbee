import type { DecoderSpec, RecordDecoder } from "../ports/decoder.ts";
import type { DecodingLimits } from "./limits.ts";
import { compileJson, compileRaw } from "./plain-decoders.ts";
import { compileProtobuf } from "./protobuf-decoder.ts";

/** Compiles the decoder of a spec's format. @throws StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID` */
export function compileDecoder(spec: DecoderSpec, limits: DecodingLimits): RecordDecoder {
  switch (spec.format) {
    case "protobuf":
      return compileProtobuf(spec, limits);
    case "json":
      return compileJson(spec, limits);
    default:
      return compileRaw(spec);
  }
}
