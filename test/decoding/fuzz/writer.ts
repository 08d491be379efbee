import type { ScalarType } from "../../../src/decoding/schema.ts";
import { ENUM_NUMBERS, oneOf } from "./schemas.ts";
import type { Below, GeneratedField, GeneratedSchema } from "./schemas.ts";

/**
 * Writes random records of a generated schema as a free-minded producer might: fields in any order and more than once,
 * lists packed, single and mixed, messages in pieces, unknown fields between them.
 */
export function writeRecord(schema: GeneratedSchema, below: Below): Uint8Array {
  return message(schema, 0, below, 3);
}

function message(schema: GeneratedSchema, index: number, below: Below, depth: number): Uint8Array {
  const fields = schema.messages[index] ?? [];
  const parts: Uint8Array[] = [];
  for (let left = below(fields.length + 2); left > 0; left -= 1) {
    if (fields.length === 0 || below(10) === 0) parts.push(unknown(below));
    else parts.push(field(schema, oneOf(below, fields), below, depth));
  }
  return Buffer.concat(parts);
}

function field(schema: GeneratedSchema, chosen: GeneratedField, below: Below, depth: number): Uint8Array {
  const { number, shape, type } = chosen;
  if (shape === "group") return delimited(number, Buffer.concat([tag(1, 0), varint(BigInt(below(300)))]));
  if (shape === "map") return bytes(number, mapEntry(schema, chosen, below, depth));
  if (shape === "repeated" && type !== "message" && wireType(type) !== 2 && below(2) === 0) {
    const list = Array.from({ length: below(5) }, () => scalar(type, below));
    return bytes(number, Buffer.concat(list));
  }
  return value(schema, chosen, number, below, depth);
}

function mapEntry(schema: GeneratedSchema, chosen: GeneratedField, below: Below, depth: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const key = Buffer.concat([tag(1, wireType(chosen.mapKey)), scalar(chosen.mapKey, below)]);
  if (below(8) > 0) parts.push(key);
  if (below(8) > 0) parts.push(value(schema, chosen, 2, below, depth));
  if (below(8) === 0) parts.push(unknown(below));
  return Buffer.concat(below(4) === 0 ? parts.toReversed() : parts);
}

function value(
  schema: GeneratedSchema,
  chosen: GeneratedField,
  number: number,
  below: Below,
  depth: number,
): Uint8Array {
  if (chosen.type !== "message") return Buffer.concat([tag(number, wireType(chosen.type)), scalar(chosen.type, below)]);
  const content = depth === 0 ? Buffer.alloc(0) : message(schema, chosen.message, below, depth - 1);
  return chosen.delimited ? delimited(number, content) : bytes(number, content);
}

function unknown(below: Below): Uint8Array {
  const number = 1_000 + below(1_000);
  switch (below(5)) {
    case 0:
      return Buffer.concat([tag(number, 0), varint(BigInt(below(1_000)))]);
    case 1:
      return Buffer.concat([tag(number, 1), Buffer.alloc(8, 7)]);
    case 2:
      return bytes(number, Buffer.alloc(below(5), 0xff));
    case 3:
      return delimited(number, Buffer.concat([tag(1, 0), varint(1n), tag(2, 2), varint(0n)]));
    default:
      return Buffer.concat([tag(number, 5), Buffer.alloc(4, 7)]);
  }
}

function tag(number: number, type: number): Uint8Array {
  return varint(BigInt(number) * 8n + BigInt(type));
}

function bytes(number: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([tag(number, 2), varint(BigInt(content.length)), content]);
}

function delimited(number: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([tag(number, 3), content, tag(number, 4)]);
}

function varint(from: bigint): Uint8Array {
  const result: number[] = [];
  let left = BigInt.asUintN(64, from);
  while (left > 0x7fn) {
    result.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  result.push(Number(left));
  return Buffer.from(result);
}

function wireType(type: ScalarType): number {
  if (type === "double" || type.endsWith("fixed64")) return 1;
  if (type === "float" || type.endsWith("fixed32")) return 5;
  return type === "string" || type === "bytes" ? 2 : 0;
}

const INTEGERS = [
  0n,
  1n,
  -1n,
  127n,
  128n,
  300n,
  2n ** 31n - 1n,
  -(2n ** 31n),
  2n ** 32n - 1n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
const DOUBLES = [0, 1, -1.5, 0.1, 1e300, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53 + 2];
const TEXTS = ["", "a", "key", "é😀", '\u0000\u001f"\\', "x".repeat(200), "\ufeff", "\u2028"];

function scalar(type: ScalarType, below: Below): Uint8Array {
  const integer = below(3) === 0 ? BigInt(below(100_000)) : oneOf(below, INTEGERS);
  switch (type) {
    case "string":
    case "bytes": {
      const content = type === "string" ? Buffer.from(oneOf(below, TEXTS)) : Buffer.alloc(below(20), below(256));
      return Buffer.concat([varint(BigInt(content.length)), content]);
    }
    case "bool":
      return varint(BigInt(below(2)));
    case "enum":
      return varint(BigInt(below(4) === 0 ? 99 : oneOf(below, ENUM_NUMBERS)));
    case "int32":
      return varint(BigInt.asIntN(32, integer));
    case "uint32":
    case "sint32":
      return varint(BigInt.asUintN(32, integer));
    default:
      return wireType(type) === 0 ? varint(integer) : fixed(type, integer, below);
  }
}

function fixed(type: ScalarType, integer: bigint, below: Below): Uint8Array {
  const long = Buffer.alloc(8);
  if (type === "double") long.writeDoubleLE(oneOf(below, DOUBLES));
  else long.writeBigUInt64LE(BigInt.asUintN(64, integer));
  if (wireType(type) === 1) return long;
  if (type === "float") long.writeFloatLE(oneOf(below, DOUBLES));
  return long.subarray(0, 4);
}
