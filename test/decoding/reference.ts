import * as fc from "fast-check";
import protobuf from "protobufjs";
import protojson from "protobufjs/ext/protojson.js";

/** A message with a field of every type and shape, for comparing our decoder with protobufjs'. */
export const EVERYTHING = `
  syntax = "proto3"; package t;
  import "google/protobuf/timestamp.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/wrappers.proto";
  message All {
    double d = 1; float f = 2; int32 i32 = 3; int64 i64 = 4; uint32 u32 = 5; uint64 u64 = 6; sint32 s32 = 7;
    sint64 s64 = 8; fixed32 x32 = 9; fixed64 x64 = 10; sfixed32 y32 = 11; sfixed64 y64 = 12; bool bo = 13; string st = 14;
    bytes by = 15; Level level = 16; All child = 17; optional int32 oi32 = 18; optional string ost = 19;
    repeated int32 ri32 = 20; repeated sint64 rs64 = 21; repeated double rd = 22; repeated string rst = 23;
    repeated All rall = 24; repeated Level rl = 25; repeated bool rb = 26 [packed = false]; repeated fixed32 rx = 27;
    oneof pick { int32 pi = 30; string ps = 31; All pa = 32; bytes pb = 33; }
    map<string, int32> msi = 40; map<int64, string> mis = 41; map<bool, All> mba = 42; map<uint32, Level> mul = 43;
    google.protobuf.Timestamp at = 50; google.protobuf.Int64Value wrapped = 51; google.protobuf.Struct struct = 52;
    int32 far = 5000;
  }
  enum Level { NONE = 0; LOW = 1; HIGH = 2; BELOW = -1; }
`;

const root = new protobuf.Root();
for (const name of ["timestamp", "struct", "wrappers"]) {
  root.addJSON(protobuf.common.get(`google/protobuf/${name}.proto`)?.nested ?? {});
}
protobuf.parse(EVERYTHING, root);
root.resolveAll();
const All = root.lookupType("t.All");

/** Encodes a plain object by protobufjs. */
export function encode(value: Record<string, unknown>): Uint8Array {
  return All.encode(All.fromObject(value)).finish();
}

/** protobufjs' canonical JSON of the bytes; undefined where it refuses them. Throws where it cannot write them as JSON. */
export function referenceJson(bytes: Uint8Array): unknown {
  const message = decodeReference(bytes);
  return message === undefined ? undefined : comparable(protojson.toJsonString(All, message));
}

/**
 * JSON for comparing: protobufjs writes a float's digits as a double's, and takes −0 for the zero that is left out (C++ and
 * Go do not).
 */
export function comparable(json: string): unknown {
  return JSON.parse(json, (key, value: unknown) => {
    if (Object.is(value, -0)) return key === "d" || key === "f" ? undefined : 0;
    return key === "f" && typeof value === "number" ? Math.fround(value) : value;
  });
}

/** protobufjs' message, 64-bit numbers as decimal text; undefined where it refuses the bytes. */
export function decodeReference(bytes: Uint8Array): protobuf.Message | undefined {
  try {
    return All.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The message as plain values: 64-bit numbers as text, enums as numbers, bytes as Buffers, absent ones missing. */
export function plain(message: protobuf.Message): Record<string, unknown> {
  return All.toObject(message, { longs: String, bytes: Buffer });
}

const int32 = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const text = fc.string({ unit: "binary", maxLength: 40 });
const bytes = fc.uint8Array({ maxLength: 20 });
const level = fc.constantFrom(0, 1, 2, -1);
const double = fc.double();
const float = fc.float();

const scalars = {
  d: double,
  f: float,
  i32: int32,
  i64: int64,
  u32: uint32,
  u64: uint64,
  s32: int32,
  s64: int64,
  x32: uint32,
  x64: uint64,
  y32: int32,
  y64: int64,
  bo: fc.boolean(),
  st: text,
  by: bytes,
  level,
  oi32: int32,
  ost: text,
  ri32: fc.array(int32, { maxLength: 5 }),
  rs64: fc.array(int64, { maxLength: 5 }),
  rd: fc.array(double, { maxLength: 3 }),
  rst: fc.array(text, { maxLength: 3 }),
  rl: fc.array(level, { maxLength: 4 }),
  rb: fc.array(fc.boolean(), { maxLength: 4 }),
  rx: fc.array(uint32, { maxLength: 4 }),
  msi: fc.dictionary(text, int32, { maxKeys: 3 }),
  mul: fc.dictionary(uint32.map(String), level, { maxKeys: 3 }),
  at: fc.record({
    seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }).map(String),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
  }),
  wrapped: fc.record({ value: int64 }),
  far: int32,
};

const leaf = fc.record({ ...scalars }, { requiredKeys: [] });
const pick = fc.oneof(
  fc.record({ pi: int32 }),
  fc.record({ ps: text }),
  fc.record({ pb: bytes }),
  fc.record({ pa: leaf }),
  fc.constant({}),
);

/** Plain objects for {@link encode}, with messages within messages. */
export const records: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    leaf,
    pick,
    fc.record(
      {
        child: leaf,
        rall: fc.array(leaf, { maxLength: 2 }),
        mba: fc.dictionary(fc.constantFrom("true", "false"), leaf),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([own, picked, nested]) => ({ ...own, ...picked, ...nested }));

/** Plain objects of up to six fields: small enough that a mutation often leaves them well-formed. */
export const smallRecords: fc.Arbitrary<Record<string, unknown>> = fc
  .uniqueArray(fc.constantFrom(...Object.entries(scalars)), { maxLength: 6, selector: ([name]) => name })
  .chain((chosen) => fc.tuple(fc.record(Object.fromEntries<fc.Arbitrary<unknown>>(chosen)), pick, fc.boolean()))
  .map(([own, picked, nested]) => (nested ? { ...picked, child: own, rall: [own] } : { ...own, ...picked }));

/** A small generator of its own, so that the mutations are the same on every machine. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Changes a record in one to three places: cuts, inserts, deletes, repeats, flips. */
export function mutate(original: Uint8Array, below: (limit: number) => number): Uint8Array {
  let result = Buffer.from(original);
  for (let times = 1 + below(3); times > 0; times -= 1) {
    const at = below(result.length + 1);
    const kind = below(6);
    if (kind === 0) result = result.subarray(0, at);
    else if (kind === 1)
      result = Buffer.concat([result.subarray(0, at), Buffer.from([below(256)]), result.subarray(at)]);
    else if (kind === 2) result = Buffer.concat([result.subarray(0, at), result.subarray(at + 1 + below(4))]);
    else if (kind === 3) result = Buffer.concat([result, result.subarray(at)]);
    else {
      result = Buffer.from(result);
      if (at < result.length) result[at] = kind === 4 ? below(256) : (result[at] ?? 0) ^ (1 << below(8));
    }
  }
  return result;
}
