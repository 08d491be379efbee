import { mergedRanges, NumberRanges } from "./number-ranges.ts";
import type { Reasons } from "./compat-reasons.ts";
import type { EnumSchema, Reserved } from "./schema.ts";

/** Compares two versions of an enum. */
export function compareEnums(before: EnumSchema, after: EnumSchema, reasons: Reasons): void {
  const type = before.fullName;
  if (before.closed !== after.closed) {
    const word = (closed: boolean): string => (closed ? "closed" : "open");
    reasons.add("ENUM_CLOSED", { type, before: word(before.closed), after: word(after.closed) });
  }
  const kept = new NumberRanges(after.reserved.numbers);
  for (const [name, number] of before.numbers) {
    const now = after.numbers.get(name);
    const named = after.names.get(number);
    const was = `${name} = ${number}`;
    if (now !== undefined) {
      if (now !== number) reasons.add("ENUM_RENUMBERED", { type, number, before: was, after: `${name} = ${now}` });
    } else if (named === undefined) {
      // An open enum keeps the number; whoever reserves it knows that it was one.
      const breaks = after.closed || !kept.has(number);
      reasons.add("ENUM_VALUE_REMOVED", { type, number, before: was, breaks });
    } else if (before.names.get(number) === name) {
      reasons.add("ENUM_VALUE_RENAMED", { type, number, before: was, after: `${named} = ${number}` });
    }
  }
  compareReserved(type, before.reserved, after.reserved, [...after.numbers], reasons);
}

/**
 * Tells what was reserved and is used, and what is no longer reserved. `used` are names and numbers of the new version that
 * the old one need not have had.
 */
export function compareReserved(
  type: string,
  before: Reserved,
  after: Reserved,
  used: readonly (readonly [name: string, number: number])[],
  reasons: Reasons,
): void {
  const reserved = new NumberRanges(before.numbers);
  const names = new Set(before.names);
  for (const [name, number] of used) {
    const byNumber = reserved.has(number);
    if (byNumber || names.has(name)) {
      const was = byNumber ? `reserved ${number}` : `reserved "${name}"`;
      reasons.add("NUMBER_RESERVED", { type, number, before: was, after: `${name} = ${number}` });
    }
  }
  const taken: [number, number][] = used.map(([, number]) => [number, number]);
  const kept = new NumberRanges(mergedRanges([...after.numbers, ...taken]));
  for (const range of before.numbers) {
    const [first, last] = range;
    const keptUpTo = kept.lastOf(first) ?? first - 1;
    if (keptUpTo < last)
      reasons.add("NUMBER_FREED", { type, number: keptUpTo + 1, before: `reserved ${range.join(" to ")}` });
  }
}
