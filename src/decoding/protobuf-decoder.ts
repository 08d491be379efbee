import { isFault } from "../core/fault.ts";
import type { RecordFault } from "../core/fault.ts";
import type { DecodedRecord, DecoderSpec, RecordDecoder, UnknownFieldCounts, ProtoFiles } from "../ports/decoder.ts";
import { jsonBodyReader, originalBodyReader } from "./body-reader.ts";
import type { BodyReader } from "./body-reader.ts";
import { skipConfluentProtobuf } from "./framing.ts";
import type { FramedMessage } from "./framing.ts";
import { buildInputPlan } from "./input-plan.ts";
import { InputReader } from "./input-reader.ts";
import type { DecodingLimits } from "./limits.ts";
import { descriptorInvalid } from "./proto/invalid.ts";
import { buildSchema } from "./schema-build.ts";
import type { MessageSchema, Schema } from "./schema.ts";
import { UnknownFields } from "./unknown-fields.ts";
import { Wire } from "./wire.ts";

/**
 * Compiles a decoder of protobuf values.
 * @throws StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID`.
 */
export function compileProtobuf(spec: DecoderSpec, limits: DecodingLimits): RecordDecoder {
  const { schema, message, version } = messageOf(spec);
  const plan = buildInputPlan(message, spec.inputs, spec.mapping);
  const wire = new Wire(limits.maxDepth);
  const unknown = new UnknownFields(limits.maxDepth, limits.maxUnknownPaths);
  const body = bodyReader(spec.body, schema, message, wire, unknown, limits);
  // What a body pass walks includes what the inputs pass walks: only one of them counts unknown fields.
  const reader = new InputReader(plan, wire, body === undefined ? unknown : undefined);
  const framed = framedMessage(spec, schema, message);
  return new ProtobufDecoder(version, { framed, wire, unknown, reader, body });
}

/** What the Confluent framing of a spec must name; undefined without that framing. */
export function framedMessage(
  spec: DecoderSpec,
  schema: Schema,
  { fullName }: MessageSchema,
): FramedMessage | undefined {
  if (spec.framing !== "confluent") return undefined;
  return { path: schema.indexPath(fullName), has: (path) => schema.hasIndexPath(fullName, path) };
}

/** The descriptor that was compiled last: a change is tried before it is put in force, which compiles it twice in a row. */
let last: { readonly files: ProtoFiles; readonly schema: Schema } | undefined;

function schemaOf(files: ProtoFiles): Schema {
  if (last?.files !== files) last = { files, schema: buildSchema(files) };
  return last.schema;
}

/** The message that a spec names, in its compiled schema. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function messageOf(spec: DecoderSpec): { schema: Schema; message: MessageSchema; version: number } {
  if (spec.descriptor === undefined) throw descriptorInvalid("the format protobuf needs a descriptor");
  const { descriptor, message: name } = spec.descriptor;
  const schema = schemaOf(descriptor.files);
  const message = schema.message(name);
  if (message === undefined) throw descriptorInvalid(`there is no message "${name}" in the files`);
  return { schema, message, version: descriptor.version };
}

function bodyReader(
  body: DecoderSpec["body"],
  schema: Schema,
  message: MessageSchema,
  wire: Wire,
  unknown: UnknownFields,
  limits: DecodingLimits,
): BodyReader | undefined {
  if (body === "json") return jsonBodyReader(schema, message, wire, unknown, limits);
  return body === "original" ? originalBodyReader(message, wire, unknown) : undefined;
}

interface Parts {
  /** What the Confluent framing must name; undefined without framing. */
  readonly framed: FramedMessage | undefined;
  readonly wire: Wire;
  readonly unknown: UnknownFields;
  readonly reader: InputReader;
  readonly body: BodyReader | undefined;
}

class ProtobufDecoder implements RecordDecoder {
  readonly descriptorVersion: number;
  readonly #parts: Parts;

  constructor(descriptorVersion: number, parts: Parts) {
    this.descriptorVersion = descriptorVersion;
    this.#parts = parts;
  }

  decode(value: Uint8Array): DecodedRecord | RecordFault {
    const { framed, wire, unknown } = this.#parts;
    const start = framed === undefined ? 0 : skipConfluentProtobuf(value, framed);
    if (typeof start !== "number") return start;
    unknown.begin();
    const result = this.#read(value, start);
    wire.release();
    if (!isFault(result)) unknown.commit();
    return result;
  }

  #read(value: Uint8Array, start: number): DecodedRecord | RecordFault {
    const { wire, reader, body } = this.#parts;
    wire.reset(value, start);
    const inputs = reader.values();
    if (isFault(inputs)) return inputs;
    if (body === undefined) return { inputs, body: undefined };
    wire.reset(value, start);
    const kept = body.read();
    return kept === undefined ? wire.fault() : { inputs, body: kept };
  }

  unknownFields(): UnknownFieldCounts {
    return this.#parts.unknown.counts();
  }
}
