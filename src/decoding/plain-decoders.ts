import { isFault } from "../core/fault.ts";
import type { RecordFault } from "../core/fault.ts";
import type { DecodedRecord, DecoderSpec, InputValue, RecordDecoder } from "../ports/decoder.ts";
import { skipConfluentHeader } from "./framing.ts";
import { buildInputPlan, mappingInvalid } from "./input-plan.ts";
import { readJsonInputs } from "./json-inputs.ts";
import type { JsonInput } from "./json-inputs.ts";
import { jsonLookup } from "./json-lookup.ts";
import type { JsonLookup } from "./json-lookup.ts";
import { decodeText, JsonScanner } from "./json-scan.ts";
import type { DecodingLimits } from "./limits.ts";
import { messageOf } from "./protobuf-decoder.ts";
import { UnknownFields } from "./unknown-fields.ts";

/**
 * Compiles a decoder of raw values: the body is the value, and there is nothing to map.
 * @throws StreamsError `MAPPING_INVALID`.
 */
export function compileRaw(spec: DecoderSpec): RecordDecoder {
  withoutMapping(spec);
  const decode = (payload: Uint8Array): DecodedRecord => ({
    inputs: nothing(spec),
    body: spec.body === "none" ? undefined : { format: "raw", bytes: payload },
  });
  return framed(spec, 0, decode);
}

/**
 * Compiles a decoder of JSON values. The body is the text as it came, whichever form is asked for: nothing is rounded,
 * reordered or renamed, and keys such as `__proto__` stay data. With a descriptor the mapping's field numbers are turned
 * into names by it. A descriptor checks the inputs, that no field comes under two names and no oneof has two members;
 * members that it does not have are counted.
 * @throws StreamsError `MAPPING_INVALID`, `DESCRIPTOR_INVALID`.
 */
export function compileJson(spec: DecoderSpec, limits: DecodingLimits): RecordDecoder {
  const { inputs, lookup } = jsonPlan(spec);
  const unknown = new UnknownFields(limits.maxJsonDepth, limits.maxUnknownPaths);
  const decode = (payload: Uint8Array): DecodedRecord | RecordFault => {
    const text = decodeText(payload);
    if (typeof text !== "string") return text;
    const scanner = new JsonScanner(text, { maxDepth: limits.maxJsonDepth });
    unknown.begin();
    if (!scanner.scan(lookup, unknown)) return scanner.fault();
    const values = readJsonInputs(text, scanner.places, inputs, spec.inputs.length, unknown);
    if (isFault(values)) return values;
    unknown.commit();
    return { inputs: values, body: spec.body === "none" ? undefined : { format: "json", bytes: payload } };
  };
  return framed(spec, spec.descriptor?.descriptor.version ?? 0, decode, unknown);
}

function jsonPlan(spec: DecoderSpec): { inputs: readonly JsonInput[]; lookup: JsonLookup | undefined } {
  if (spec.descriptor === undefined) {
    withoutMapping(spec);
    return { inputs: [], lookup: undefined };
  }
  const { message } = messageOf(spec);
  // The rules of protobuf decide which paths fit; what else the plan holds is not needed.
  const plan = buildInputPlan(message, spec.inputs, spec.mapping);
  const inputs = plan.inputs.flatMap(({ input, field, path }, slot): readonly JsonInput[] =>
    field === undefined ? [] : [{ slot, input, path, field }],
  );
  const targets = inputs.map(({ slot, path, input }) => ({ slot, path, name: input.name }));
  return { inputs, lookup: jsonLookup(message, targets) };
}

/** Without names for field numbers nothing can be mapped, and nothing may have to be. */
function withoutMapping(spec: DecoderSpec): void {
  const [mapped] = Object.keys(spec.mapping);
  const without = spec.format === "raw" ? "the format raw" : "the format json without a descriptor";
  if (mapped !== undefined) throw mappingInvalid(`${without} has no field numbers: "${mapped}" cannot be mapped`);
  const required = spec.inputs.find((input) => input.required);
  if (required !== undefined) throw mappingInvalid(`${without} cannot feed the required input "${required.name}"`);
}

function nothing(spec: DecoderSpec): InputValue[] {
  return spec.inputs.map(() => undefined);
}

/** Wraps the decoding of a payload in the framing. */
function framed(
  spec: DecoderSpec,
  descriptorVersion: number,
  decode: (payload: Uint8Array) => DecodedRecord | RecordFault,
  unknown?: UnknownFields,
): RecordDecoder {
  return {
    descriptorVersion,
    decode(value) {
      if (spec.framing === "none") return decode(value);
      const start = skipConfluentHeader(value);
      if (typeof start !== "number") return start;
      const result = decode(value.subarray(start));
      if (!isFault(result)) return result;
      return { ...result, byteOffset: (result.byteOffset ?? 0) + start };
    },
    unknownFields: () => unknown?.counts() ?? new Map(),
  };
}
