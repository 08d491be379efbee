import type { BodyValue } from "./body-plan.ts";
import type { Slot } from "./body-node.ts";
import type { JsonSink } from "./json-sink.ts";
import { decimalText, doubleText, floatText } from "./scalar-text.ts";
import { textOf } from "./text.ts";
import type { Wire } from "./wire.ts";

const QUOTE = 0x22;

/** Types of which only the low 32 bits count. */
const NARROW: ReadonlySet<string> = new Set(["int32", "uint32", "sint32", "enum", "fixed32", "sfixed32", "float"]);

/** Reads scalars again at the places that a tree keeps. They were checked when the tree was made. */
export class BodyScalars {
  readonly #wire: Wire;
  readonly #sink: JsonSink;

  constructor(wire: Wire, sink: JsonSink) {
    this.#wire = wire;
    this.#sink = sink;
  }

  /** Of strings and bytes the length, and the position behind it. */
  #read(type: BodyValue["type"], at: number): void {
    this.#wire.pos = at;
    this.#wire.scalar(type, this.#wire.bytes.length);
  }

  /** Whether the scalar is its type's zero: what an implicit field leaves out. −0 is none. */
  isZero(type: BodyValue["type"], at: number): boolean {
    this.#read(type, at);
    return this.#wire.lo === 0 && (this.#wire.hi === 0 || NARROW.has(type));
  }

  double(at: number): number {
    this.#read("double", at);
    return this.#wire.double();
  }

  int32(slot: Slot): number {
    if (typeof slot !== "number") return 0;
    this.#read("int32", slot);
    return this.#wire.lo;
  }

  /** Beyond 53 bits only roughly. */
  int64(slot: Slot): number {
    if (typeof slot !== "number") return 0;
    this.#read("int64", slot);
    return this.#wire.hi * 2 ** 32 + (this.#wire.lo >>> 0);
  }

  text(at: number): string {
    this.#read("string", at);
    return textOf(this.#wire.bytes, this.#wire.pos, this.#wire.pos + this.#wire.lo) ?? "";
  }

  /** Moves to the first of a field of bytes. Returns where they end. */
  enter(at: number): number {
    this.#read("bytes", at);
    return this.#wire.pos + this.#wire.lo;
  }

  write({ type, enumTexts, zero }: BodyValue, at: number): void {
    const wire = this.#wire;
    const sink = this.#sink;
    this.#read(type, at);
    switch (type) {
      case "string":
        sink.string(wire.bytes, wire.pos, wire.pos + wire.lo);
        break;
      case "bytes":
        sink.base64(wire.bytes, wire.pos, wire.pos + wire.lo);
        break;
      case "double":
        sink.ascii(doubleText(wire.double()));
        break;
      case "float":
        sink.ascii(floatText(wire.float()));
        break;
      case "enum":
        // NullValue is null whatever its number.
        sink.ascii(enumTexts?.get(wire.lo) ?? (zero === "null" ? zero : String(wire.lo)));
        break;
      case "message":
        break;
      default: {
        const quoted = type.endsWith("64");
        if (quoted) sink.byte(QUOTE);
        sink.ascii(decimalText(wire, type));
        if (quoted) sink.byte(QUOTE);
      }
    }
  }
}
