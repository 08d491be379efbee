import type { RecordFault } from "../core/fault.ts";
import { decodeFault } from "./faults.ts";
import type { DecodeCode } from "./faults.ts";
import { MembersSeen } from "./json-lookup.ts";
import type { JsonLookup } from "./json-lookup.ts";
import { doubleKeepsDigits } from "./json-number.ts";
import type { UnknownFields } from "./unknown-fields.ts";

/** What a strict scan refuses beside what is not JSON. */
export interface JsonScanOptions {
  /** Deepest nesting of arrays and objects: `1` allows `[]` and not `[[]]`. From 0 to {@link MAX_JSON_DEPTH}. */
  readonly maxDepth: number;
  /** `__proto__`, `constructor`, `prototype` as keys, escaped ones too. Default `keep`: they are data. */
  readonly prototypeKeys?: "keep" | "refuse";
  /** Numbers that a double cannot hold digit for digit. Default `keep`: for callers that keep the text. */
  readonly lossyNumbers?: "keep" | "refuse";
}

/** The upper bound of `maxDepth`: the scanner recurses once per level. */
export const MAX_JSON_DEPTH = 1_000;

/**
 * Checks that `bytes` are one strict JSON value and returns its text: fatal UTF-8, no byte order mark, the grammar of
 * RFC 8259 exactly (no NaN, no comments, no trailing comma, nothing empty), no key twice in an object (compared after
 * unescaping), no escape that leaves half a surrogate pair, a depth limit. Never throws, never builds an object from
 * the data. The fault's `byteOffset` is where the first violation begins; its text holds nothing of the data.
 */
export function scanStrictJson(bytes: Uint8Array, options: JsonScanOptions): { readonly text: string } | RecordFault {
  const text = decodeText(bytes);
  if (typeof text !== "string") return text;
  const scanner = new JsonScanner(text, options);
  return scanner.scan() ? { text } : scanner.fault();
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 strictly, or says where it breaks. A byte order mark is refused (RFC 8259, section 8.1). */
export function decodeText(bytes: Uint8Array): string | RecordFault {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return decodeFault("DECODE_UTF8", firstInvalidByte(bytes));
  }
  return text.charCodeAt(0) === 0xfeff ? decodeFault("DECODE_UTF8", 0, "", "byte order mark") : text;
}

/** Where text stops being UTF-8: the longest prefix that decodes, found by halving. */
function firstInvalidByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      good = middle;
    } catch {
      bad = middle;
    }
  }
  return good;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What a JSON value other than an object begins with; anything else is no JSON at all, and said to be that. */
const JSON_BEGINS: ReadonlySet<string> = new Set('["tfn-0123456789');
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const NUMBER_TEXT = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Walks one JSON text. Methods return false once a fault is set. */
export class JsonScanner {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #refusePrototypeKeys: boolean;
  readonly #refuseLossyNumbers: boolean;
  #unknown: UnknownFields | undefined;
  /** How many messages and maps of the lookup are open; −1 before the record's own. */
  #level = -1;
  #at = 0;
  #fault: { readonly code: DecodeCode; readonly at: number } | undefined;
  /** Start and end of the value in each slot of the lookup, in UTF-16 units; absent ones are missing. */
  readonly places = new Map<number, { readonly start: number; readonly end: number }>();

  constructor(text: string, options: JsonScanOptions) {
    this.#text = text;
    this.#maxDepth = Math.min(options.maxDepth, MAX_JSON_DEPTH);
    this.#refusePrototypeKeys = options.prototypeKeys === "refuse";
    this.#refuseLossyNumbers = options.lossyNumbers === "refuse";
  }

  /**
   * Scans the whole text. Returns whether it is strict JSON. With a lookup {@link places} are found, and keys that it does
   * not have are noted in `unknown`.
   */
  scan(lookup?: JsonLookup, unknown?: UnknownFields): boolean {
    this.#unknown = unknown;
    this.#skipSpace();
    if (lookup !== undefined && !this.#fits(lookup)) return this.#fail("DECODE_JSON_TYPE", this.#at);
    if (!this.#value(0, lookup)) return false;
    this.#skipSpace();
    return this.#at === this.#text.length || this.#fail("DECODE_JSON", this.#at);
  }

  /** The fault after {@link scan} returned false. */
  fault(): RecordFault {
    const { code, at } = this.#fault ?? { code: "DECODE_JSON", at: this.#at };
    return decodeFault(code, Buffer.byteLength(this.#text.slice(0, at)));
  }

  /** Whether the text can be a message: an object, or what a message with a JSON form of its own may be. Only a Value is null. */
  #fits({ members, nullIsValue }: JsonLookup): boolean {
    const first = this.#text.charAt(this.#at);
    if (members !== undefined) return first === "{" || !JSON_BEGINS.has(first);
    return first !== "n" || nullIsValue;
  }

  #fail(code: DecodeCode, at: number): false {
    this.#fault = { code, at };
    return false;
  }

  #skipSpace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  #value(depth: number, lookup: JsonLookup | undefined): boolean {
    const start = this.#at;
    if (lookup?.needed === true) {
      const first = this.#text.charAt(start);
      if (first !== "n" && JSON_BEGINS.has(first)) return this.#fail("DECODE_JSON_TYPE", start);
    }
    if (!this.#anyValue(depth, lookup)) return false;
    if (lookup?.slot !== undefined) this.places.set(lookup.slot, { start, end: this.#at });
    return true;
  }

  #anyValue(depth: number, lookup: JsonLookup | undefined): boolean {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#object(depth + 1, lookup);
      case 0x5b:
        return this.#array(depth + 1, lookup?.items);
      case QUOTE:
        return this.#string();
      case 0x74:
        return this.#literal("true");
      case 0x66:
        return this.#literal("false");
      case 0x6e:
        return this.#literal("null");
      default:
        return this.#number();
    }
  }

  #literal(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return this.#fail("DECODE_JSON", this.#at);
    this.#at += word.length;
    return true;
  }

  #number(): boolean {
    NUMBER_TEXT.lastIndex = this.#at;
    const match = NUMBER_TEXT.exec(this.#text);
    if (match === null) return this.#fail("DECODE_JSON", this.#at);
    if (this.#refuseLossyNumbers && !doubleKeepsDigits(match[0])) return this.#fail("DECODE_JSON_NUMBER", this.#at);
    this.#at += match[0].length;
    return true;
  }

  #array(depth: number, items: JsonLookup | undefined): boolean {
    if (depth > this.#maxDepth) return this.#fail("DECODE_DEPTH", this.#at);
    this.#at += 1;
    this.#skipSpace();
    if (this.#take(0x5d)) return true;
    for (;;) {
      this.#skipSpace();
      if (!this.#value(depth, items)) return false;
      this.#skipSpace();
      if (this.#take(0x5d)) return true;
      if (!this.#take(0x2c)) return this.#fail("DECODE_JSON", this.#at);
    }
  }

  #object(depth: number, lookup: JsonLookup | undefined): boolean {
    if (depth > this.#maxDepth) return this.#fail("DECODE_DEPTH", this.#at);
    this.#at += 1;
    this.#skipSpace();
    if (this.#take(0x7d)) return true;
    this.#level += 1;
    const keys = new Set<string>();
    const seen = lookup?.members === undefined ? undefined : new MembersSeen();
    for (;;) {
      this.#skipSpace();
      if (!this.#member(depth, lookup, keys, seen)) return false;
      this.#skipSpace();
      if (this.#take(0x7d)) break;
      if (!this.#take(0x2c)) return this.#fail("DECODE_JSON", this.#at);
    }
    this.#level -= 1;
    return true;
  }

  #member(depth: number, lookup: JsonLookup | undefined, keys: Set<string>, seen: MembersSeen | undefined): boolean {
    const start = this.#at;
    const key = this.#key(keys);
    if (key === undefined) return false;
    const child = lookup?.members?.get(key) ?? lookup?.entries;
    if (child === undefined && lookup?.members !== undefined) this.#unknown?.addNamed(this.#level, key);
    if (child !== undefined && seen?.field(child) === false) return this.#fail("DECODE_JSON_DUPLICATE", start);
    this.#skipSpace();
    if (!this.#take(0x3a)) return this.#fail("DECODE_JSON", this.#at);
    this.#skipSpace();
    if (child === undefined) return this.#value(depth, undefined);
    const isNull = this.#text.startsWith("n", this.#at);
    if (seen?.sets(child, isNull) === false) return this.#fail("DECODE_JSON_ONEOF", start);
    this.#unknown?.enter(this.#level + 1, child.number);
    return this.#value(depth, child);
  }

  /** Reads a key, or sets a fault and returns undefined. */
  #key(seen: Set<string>): string | undefined {
    const start = this.#at;
    if (this.#text.charCodeAt(start) !== QUOTE) {
      this.#fail("DECODE_JSON", start);
      return undefined;
    }
    if (!this.#string()) return undefined;
    const key = unquote(this.#text.slice(start, this.#at));
    const before = seen.size;
    if (seen.add(key).size === before) this.#fail("DECODE_JSON_DUPLICATE", start);
    else if (this.#refusePrototypeKeys && PROTOTYPE_KEYS.has(key)) this.#fail("DECODE_JSON_PROTOTYPE", start);
    return this.#fault === undefined ? key : undefined;
  }

  #take(unit: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== unit) return false;
    this.#at += 1;
    return true;
  }

  #string(): boolean {
    this.#at += 1;
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === QUOTE) {
        this.#at += 1;
        return true;
      }
      if (unit === BACKSLASH) {
        if (!this.#escape()) return false;
      } else if (unit >= 0x20) {
        this.#at += 1;
      } else {
        // A control character, or NaN past the end of the text.
        return this.#fail("DECODE_JSON", this.#at);
      }
    }
  }

  /** An escape; half a surrogate pair is refused, because two different ones would become the same text. */
  #escape(): boolean {
    const start = this.#at;
    const letter = this.#text.charAt(start + 1);
    if (letter !== "u") {
      if (letter === "" || !'"\\/bfnrt'.includes(letter)) return this.#fail("DECODE_JSON", start);
      this.#at += 2;
      return true;
    }
    const unit = this.#hex(start);
    if (unit === undefined || (unit & 0xfc00) === 0xdc00) return this.#fail("DECODE_JSON", start);
    this.#at += 6;
    if ((unit & 0xfc00) !== 0xd800) return true;
    const low = this.#text.startsWith("\\u", this.#at) ? this.#hex(this.#at) : undefined;
    if (low === undefined || (low & 0xfc00) !== 0xdc00) return this.#fail("DECODE_JSON", start);
    this.#at += 6;
    return true;
  }

  #hex(escapeStart: number): number | undefined {
    const digits = this.#text.slice(escapeStart + 2, escapeStart + 6);
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
  }
}

/** The text of a scanned string literal, quotes included. */
export function unquote(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  const text: unknown = JSON.parse(literal);
  return String(text);
}
