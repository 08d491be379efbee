import protobuf from "protobufjs";
import protojson from "protobufjs/ext/protojson.js";

/** What protobufjs makes of a record. */
export type Reading =
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "read"; readonly json: unknown }
  /** protobufjs is known to be wrong: see {@link hasTwoZeroKeys}. */
  | { readonly is: "unreliable" };

/** Compiles a file with protobufjs alone, and reads records by it. */
export function referenceReader(source: string, message: string): (bytes: Uint8Array) => Reading {
  const { root } = protobuf.parse(source, { keepCase: true });
  root.resolveAll();
  const type = root.lookupType(message);
  return (bytes) => {
    let read: protobuf.Message;
    try {
      read = type.decode(bytes);
    } catch (error) {
      return { is: "refused", why: String(error) };
    }
    if (hasTwoZeroKeys(read)) return { is: "unreliable" };
    return { is: "read", json: alike(JSON.parse(protojson.toJsonString(type, read))) };
  };
}

/** How protobufjs keeps a 64-bit map key of zero. */
const ZERO_HASH = "\0".repeat(8);

/**
 * An entry of a map without a key has the key zero. With 64-bit keys protobufjs keeps such an entry beside one whose key is
 * written as zero, and shows either of the two.
 */
function hasTwoZeroKeys(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return false;
  if (Object.hasOwn(value, ZERO_HASH) && Object.hasOwn(value, "0")) return true;
  return Object.values(value).some(hasTwoZeroKeys);
}

/**
 * JSON for comparing: floats with a float's digits, for protobufjs writes a double's; no zeros of double and float fields,
 * for protobufjs takes −0 for the zero that is left out and writes it without its sign. `isFloat` says that the value stands
 * within a field of that type.
 */
export function alike(value: unknown, isFloat = false): unknown {
  if (typeof value === "number") return isFloat ? Math.fround(value) + 0 : value + 0;
  if (Array.isArray(value)) return value.map((item) => alike(item, isFloat));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, item]) => item !== 0 || !/^(?:double|float)\d/.test(key));
  return new Map(entries.map(([key, item]) => [key, alike(item, isFloat || /^float\d/.test(key))]));
}
