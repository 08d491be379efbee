import { NumberRanges } from "../number-ranges.ts";
import { withOwn } from "./features.ts";
import type { Features } from "./features.ts";
import { descriptorInvalid } from "./invalid.ts";
import type { NumberRange, ProtoEnum } from "./model.ts";
import { checkOptions, isTrue } from "./options.ts";

const MIN_NUMBER = -0x8000_0000;
const MAX_NUMBER = 0x7fff_ffff;

/** Whether an enum is closed: a number that it does not have is an unknown field. */
export function isClosed({ options }: ProtoEnum, base: Features): boolean {
  return withOwn(base, options).closedEnums;
}

/** Checks the rules of the language for one enum. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkEnum(source: ProtoEnum, base: Features, level: string): void {
  const place = `${source.file}: ${source.fullName}`;
  checkOptions(source, "enum", level);
  const [first] = source.values;
  if (first === undefined) throw descriptorInvalid(`${place}: an enum needs a value`);
  checkRanges(source.reservedNumbers, place);
  checkNames(source.reservedNames, place);
  const reserved = reservedOf(source);
  const names = new Map<number, string>();
  const aliases = isTrue(source.options, "allow_alias");
  for (const value of source.values) {
    const { name, number } = value;
    checkOptions(value, "value", level);
    if (number < MIN_NUMBER || number > MAX_NUMBER) {
      throw descriptorInvalid(`${place}.${name}: ${number} is not a 32-bit number`);
    }
    const other = names.get(number);
    if (other !== undefined && !aliases) {
      throw descriptorInvalid(`${place}: "${other}" and "${name}" have the number ${number} without allow_alias`);
    }
    names.set(number, name);
    checkNotReserved(reserved, value, place);
  }
  if (aliases && names.size === source.values.length) throw descriptorInvalid(`${place}: allow_alias without an alias`);
  if (!isClosed(source, base) && first.number !== 0) {
    throw descriptorInvalid(`${place}: the first value of an open enum must be 0`);
  }
}

/** What is reserved, for looking up. */
export function reservedOf(holder: Pick<ProtoEnum, "reservedNumbers" | "reservedNames">): {
  readonly numbers: NumberRanges;
  readonly names: ReadonlySet<string>;
} {
  return { numbers: new NumberRanges(holder.reservedNumbers), names: new Set(holder.reservedNames) };
}

/** What is reserved must not be used. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkNotReserved(
  reserved: ReturnType<typeof reservedOf>,
  { name, number }: { readonly name: string; readonly number: number },
  place: string,
): void {
  if (reserved.numbers.has(number)) {
    throw descriptorInvalid(`${place}: "${name}" uses the reserved number ${number}`);
  }
  if (reserved.names.has(name)) throw descriptorInvalid(`${place}: the name "${name}" is reserved`);
}

/** Ranges must not overlap. Returns them in order. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkRanges(ranges: readonly NumberRange[], place: string): void {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  for (const [index, [first, last]] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined && before[1] >= first) {
      throw descriptorInvalid(`${place}: the ranges ${before.join(" to ")} and ${first} to ${last} overlap`);
    }
  }
}

/** Names must not be reserved twice. @throws StreamsError `DESCRIPTOR_INVALID`. */
export function checkNames(names: readonly string[], place: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw descriptorInvalid(`${place}: the name "${name}" is reserved twice`);
    seen.add(name);
  }
}
