import type { InputView } from "../core/counting/inputs.ts";
import { isFault, type RecordFault } from "../core/fault.ts";
import type { DecoderSpec, InputsReader, InputValue, RecordDecoder } from "../ports/decoder.ts";
import { compileDecoder } from "./compile-decoder.ts";
import { compileInPlace, type InPlaceReader } from "./in-place.ts";
import { ABSENT, CELL, CELL_HIGH, CELL_STATE, secondsOf } from "./input-cells.ts";
import type { InputCell } from "./input-plan.ts";
import { integerOf } from "./input-values.ts";
import { DEFAULT_LIMITS, type DecodingLimits } from "./limits.ts";
import { timeFromTimestamp } from "./time.ts";

const scratch = new DataView(new ArrayBuffer(8));
const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();

/** What fits into the low half of a cell. */
const NARROW: ReadonlySet<InputCell["becomes"]> = new Set(["enum", "float", "signed32", "unsigned32", "zigzag32"]);

/** The inputs of a protobuf record, read from the cells of an {@link InPlaceReader} without making values. */
class CellView implements InputView, InputsReader {
  bytes: Uint8Array = NOTHING;
  readonly #reader: InPlaceReader;
  readonly #cells: Int32Array;
  readonly #inputs: readonly InputCell[];
  readonly descriptorVersion: number;

  constructor(reader: InPlaceReader, descriptorVersion: number) {
    this.#reader = reader;
    this.descriptorVersion = descriptorVersion;
    this.#cells = reader.cells;
    this.#inputs = reader.plan.inputs;
  }

  get view(): InputView {
    return this;
  }

  read(value: Uint8Array): RecordFault | undefined {
    this.bytes = value;
    return this.#reader.read(value);
  }

  unknownFields(): ReturnType<InPlaceReader["unknownFields"]> {
    return this.#reader.unknownFields();
  }

  has(input: number): boolean {
    if (this.#absent(input)) return false;
    const { becomes, presence } = this.#cell(input);
    if (presence || becomes === "timestamp") return true;
    if (becomes === "text" || becomes === "bytes") return this.#low(input) !== this.#high(input);
    return this.#low(input) !== 0 || (!NARROW.has(becomes) && this.#high(input) !== 0);
  }

  start(input: number): number {
    return this.#absent(input) ? 0 : this.#low(input);
  }

  end(input: number): number {
    return this.#absent(input) ? 0 : this.#high(input);
  }

  number(input: number): number {
    if (this.#absent(input)) return 0;
    const { becomes, nanos = input } = this.#cell(input);
    switch (becomes) {
      case "timestamp":
        return timeFromTimestamp(secondsOf(this.#cells, input), this.#low(nanos));
      case "enum":
        return this.#low(input);
      case "float":
        scratch.setInt32(0, this.#low(input));
        return scratch.getFloat32(0);
      case "double":
        scratch.setInt32(0, this.#high(input));
        scratch.setInt32(4, this.#low(input));
        return scratch.getFloat64(0);
      default:
        return Number(integerOf(becomes, this.#low(input), this.#high(input)));
    }
  }

  high(input: number): number {
    if (this.#absent(input)) return 0;
    const { becomes } = this.#cell(input);
    if (becomes === "signed64" || becomes === "unsigned64") return this.#high(input) >>> 0;
    return Number(BigInt.asUintN(64, this.#integer(input)) >> 32n);
  }

  low(input: number): number {
    if (this.#absent(input)) return 0;
    const { becomes } = this.#cell(input);
    if (becomes === "signed64" || becomes === "unsigned64") return this.#low(input) >>> 0;
    return Number(BigInt.asUintN(32, this.#integer(input)));
  }

  negative(input: number): boolean {
    if (this.#absent(input)) return false;
    const { becomes } = this.#cell(input);
    if (becomes === "signed64") return this.#high(input) < 0;
    return becomes !== "unsigned64" && this.#integer(input) < 0n;
  }

  #integer(input: number): bigint {
    return integerOf(this.#cell(input).becomes, this.#low(input), this.#high(input));
  }

  #absent(input: number): boolean {
    return this.#cells[input * CELL + CELL_STATE] === ABSENT;
  }

  #cell(input: number): InputCell {
    const cell = this.#inputs[input];
    if (cell === undefined) throw new RangeError(`the kind has no input ${input}`);
    return cell;
  }

  #low(cell: number): number {
    return this.#cells[cell * CELL] ?? 0;
  }

  #high(cell: number): number {
    return this.#cells[cell * CELL + CELL_HIGH] ?? 0;
  }
}

/** The inputs of a record that a decoder made values of, for formats whose records are not read in place. */
class ValueView implements InputView, InputsReader {
  bytes: Uint8Array = NOTHING;
  readonly #decoder: RecordDecoder;
  #values: readonly InputValue[] = [];
  readonly #ends: number[] = [];

  constructor(decoder: RecordDecoder) {
    this.#decoder = decoder;
  }

  get view(): InputView {
    return this;
  }

  get descriptorVersion(): number {
    return this.#decoder.descriptorVersion;
  }

  unknownFields(): ReturnType<RecordDecoder["unknownFields"]> {
    return this.#decoder.unknownFields();
  }

  read(value: Uint8Array): RecordFault | undefined {
    const decoded = this.#decoder.decode(value);
    if (isFault(decoded)) return decoded;
    this.#values = decoded.inputs;
    const texts = decoded.inputs.map(bytesOf);
    let end = 0;
    for (const [input, text] of texts.entries()) {
      end += text.length;
      this.#ends[input] = end;
    }
    this.bytes = Buffer.concat(texts);
    return undefined;
  }

  has(input: number): boolean {
    return this.#values[input] !== undefined;
  }

  start(input: number): number {
    return this.end(input) - bytesOf(this.#values[input]).length;
  }

  end(input: number): number {
    return this.#ends[input] ?? 0;
  }

  number(input: number): number {
    const value = this.#values[input];
    return typeof value === "number" || typeof value === "bigint" ? Number(value) : 0;
  }

  high(input: number): number {
    return Number(BigInt.asUintN(64, this.#integer(input)) >> 32n);
  }

  low(input: number): number {
    return Number(BigInt.asUintN(32, this.#integer(input)));
  }

  negative(input: number): boolean {
    return this.#integer(input) < 0n;
  }

  #integer(input: number): bigint {
    const value = this.#values[input];
    return typeof value === "bigint" ? value : 0n;
  }
}

function bytesOf(value: InputValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return typeof value === "string" ? encoder.encode(value) : NOTHING;
}

/**
 * Compiles a reader of inputs for kinds that count: in place for protobuf, through values for JSON. Same verdicts as the
 * decoder of the same spec; its `body` is not looked at.
 * @throws StreamsError `DESCRIPTOR_INVALID`, `MAPPING_INVALID`.
 */
export function compileInputs(spec: DecoderSpec, limits: DecodingLimits = DEFAULT_LIMITS): InputsReader {
  if (spec.format !== "protobuf") {
    return new ValueView(compileDecoder({ ...spec, body: "none" }, limits));
  }
  return new CellView(compileInPlace(spec, limits), spec.descriptor?.descriptor.version ?? 0);
}
