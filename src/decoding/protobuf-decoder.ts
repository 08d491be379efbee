import { isFault } from "../core/fault.ts";
import type { RecordFault } from "../core/fault.ts";
import type { DecodedRecord, DecoderSpec, RecordDecoder, UnknownFieldCounts } from "../ports/decoder.ts";
import { skipConfluentProtobuf } from "./framing.ts";
import { buildInputPlan } from "./input-plan.ts";
import { InputWalker } from "./input-walker.ts";
import type { DecodingLimits } from "./limits.ts";
import { descriptorInvalid } from "./proto-files.ts";
import { buildSchema } from "./schema-build.ts";
import { UnknownFields } from "./unknown-fields.ts";
import { Wire } from "./wire.ts";

/**
 * Compiles a decoder of protobuf values.
 * @throws StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID`.
 */
export function compileProtobuf(spec: DecoderSpec, limits: DecodingLimits): RecordDecoder {
  if (spec.descriptor === undefined) throw descriptorInvalid("the format protobuf needs a descriptor");
  const { descriptor, message: name } = spec.descriptor;
  const schema = buildSchema(descriptor.files);
  const message = schema.message(name);
  if (message === undefined) throw descriptorInvalid(`there is no message "${name}" in the files`);
  const plan = buildInputPlan(message, spec.inputs, spec.mapping);
  const wire = new Wire(limits.maxDepth);
  const unknown = new UnknownFields(limits.maxDepth, limits.maxUnknownPaths);
  const walker = new InputWalker(plan, wire, unknown);
  const indexes = spec.framing === "confluent" ? schema.indexPath(name) : undefined;
  return new ProtobufDecoder(descriptor.version, indexes, wire, unknown, walker);
}

class ProtobufDecoder implements RecordDecoder {
  readonly descriptorVersion: number;
  readonly #indexes: readonly number[] | undefined;
  readonly #wire: Wire;
  readonly #unknown: UnknownFields;
  readonly #inputs: InputWalker;

  constructor(
    descriptorVersion: number,
    indexes: readonly number[] | undefined,
    wire: Wire,
    unknown: UnknownFields,
    inputs: InputWalker,
  ) {
    this.descriptorVersion = descriptorVersion;
    this.#indexes = indexes;
    this.#wire = wire;
    this.#unknown = unknown;
    this.#inputs = inputs;
  }

  decode(value: Uint8Array): DecodedRecord | RecordFault {
    const start = this.#indexes === undefined ? 0 : skipConfluentProtobuf(value, this.#indexes);
    if (typeof start !== "number") return start;
    this.#unknown.begin();
    this.#wire.reset(value, start);
    const inputs = this.#inputs.read();
    this.#wire.release();
    if (isFault(inputs)) return inputs;
    this.#unknown.commit();
    return { inputs, body: undefined };
  }

  unknownFields(): UnknownFieldCounts {
    return this.#unknown.counts();
  }
}
