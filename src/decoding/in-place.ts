import type { RecordFault } from "../core/fault.ts";
import type { DecoderSpec, UnknownFieldCounts } from "../ports/decoder.ts";
import { skipConfluentProtobuf } from "./framing.ts";
import { InputReader } from "./input-reader.ts";
import { buildInputPlan } from "./input-plan.ts";
import type { InputPlan } from "./input-plan.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { DecodingLimits } from "./limits.ts";
import { framedMessage, messageOf } from "./protobuf-decoder.ts";
import { UnknownFields } from "./unknown-fields.ts";
import { Wire } from "./wire.ts";

/**
 * Reads inputs without making values: for kinds that count, which hash and add what stands in the record's bytes. Gives the
 * same verdicts as the decoder of the same spec.
 */
export interface InPlaceReader {
  readonly plan: InputPlan;
  /** Filled by {@link read}, see input-cells.ts; valid until the next record. Places are offsets into the given value. */
  readonly cells: Int32Array;
  /** Reads one value. Returns the fault, if there is one. */
  read(value: Uint8Array): RecordFault | undefined;
  unknownFields(): UnknownFieldCounts;
}

/**
 * Compiles a reader for a protobuf spec; its `body` is not looked at.
 * @throws StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID`.
 */
export function compileInPlace(spec: DecoderSpec, limits: DecodingLimits = DEFAULT_LIMITS): InPlaceReader {
  const { schema, message } = messageOf(spec);
  const wire = new Wire(limits.maxDepth);
  const unknown = new UnknownFields(limits.maxDepth, limits.maxUnknownPaths);
  const reader = new InputReader(buildInputPlan(message, spec.inputs, spec.mapping), wire, unknown);
  const framed = framedMessage(spec, schema, message);
  return {
    plan: reader.plan,
    cells: reader.cells,
    read(value) {
      const start = framed === undefined ? 0 : skipConfluentProtobuf(value, framed);
      if (typeof start !== "number") return start;
      unknown.begin();
      wire.reset(value, start);
      const fault = reader.read();
      wire.release();
      if (fault === undefined) unknown.commit();
      return fault;
    },
    unknownFields: () => unknown.counts(),
  };
}
