import type { DecodedRecord } from "../ports/decoder.ts";
import { BodyJson } from "./body-json.ts";
import { BodyPlans } from "./body-plan.ts";
import { BodyNode } from "./body-node.ts";
import { BodyTree } from "./body-tree.ts";
import { JsonSink } from "./json-sink.ts";
import type { DecodingLimits } from "./limits.ts";
import type { MessageSchema, Schema } from "./schema.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import type { Wire } from "./wire.ts";

/** Makes the stored body of a record, or leaves a fault in the wire and returns undefined. */
export interface BodyReader {
  /** Reads from the wire's position to the end of its bytes. */
  read(): NonNullable<DecodedRecord["body"]> | undefined;
}

/** A reader that writes canonical JSON. */
export function jsonBodyReader(
  schema: Schema,
  message: MessageSchema,
  wire: Wire,
  unknown: UnknownFields,
  limits: DecodingLimits,
): BodyReader {
  const plans = new BodyPlans((name) => schema.message(name));
  const plan = plans.of(message);
  const sink = new JsonSink(limits.maxBodyBytes);
  const tree = new BodyTree(wire, unknown, limits.maxBodyCells);
  const json = new BodyJson(wire, sink, tree, plans, unknown);
  return {
    read() {
      const node = new BodyNode(plan, wire.pos);
      tree.begin();
      if (!tree.walk(plan, node, wire.bytes.length, 0, 0)) return undefined;
      sink.begin();
      if (!json.write(node, 0)) return undefined;
      const bytes = sink.take();
      if (bytes !== undefined) return { format: "json", bytes };
      wire.fail("DECODE_BODY_SIZE", node.at);
      return undefined;
    },
  };
}

/**
 * A reader that keeps the bytes behind the framing. They are checked like those that become JSON as far as the wire format
 * goes: every known field, UTF-8, depth. Ranges, required fields and what an Any holds are not.
 */
export function originalBodyReader(message: MessageSchema, wire: Wire, unknown: UnknownFields): BodyReader {
  const plan = new BodyPlans(() => undefined).of(message);
  // Nothing is kept, so that nothing is spent.
  const tree = new BodyTree(wire, unknown, 0);
  return {
    read() {
      const start = wire.pos;
      if (!tree.walk(plan, undefined, wire.bytes.length, 0, 0)) return undefined;
      return { format: "protobuf", bytes: wire.bytes.subarray(start) };
    },
  };
}
