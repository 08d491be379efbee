import type { Reasons } from "./compat-reasons.ts";
import type { EnumSchema, Reserved } from "./schema.ts";

/** Compares two versions of an enum. */
export function compareEnums(before: EnumSchema, after: EnumSchema, reasons: Reasons): void {
  const type = before.fullName;
  if (before.closed !== after.closed) {
    const word = (closed: boolean): string => (closed ? "closed" : "open");
    reasons.add("ENUM_CLOSED", { type, before: word(before.closed), after: word(after.closed) });
  }
  for (const [name, number] of before.numbers) {
    const now = after.numbers.get(name);
    const named = after.names.get(number);
    const was = `${name} = ${number}`;
    if (now !== undefined) {
      if (now !== number) reasons.add("ENUM_RENUMBERED", { type, number, before: was, after: `${name} = ${now}` });
    } else if (named === undefined) {
      // An open enum keeps the number; whoever reserves it knows that it was one.
      const breaks = after.closed || !isReserved(after.reserved, number);
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
  const names = new Set(before.names);
  const numbers = new Set<number>();
  for (const [name, number] of used) {
    numbers.add(number);
    const byNumber = isReserved(before, number);
    if (byNumber || names.has(name)) {
      const was = byNumber ? `reserved ${number}` : `reserved "${name}"`;
      reasons.add("NUMBER_RESERVED", { type, number, before: was, after: `${name} = ${number}` });
    }
  }
  for (const range of before.numbers) {
    const freed = firstFreed(range, after, numbers);
    if (freed !== undefined)
      reasons.add("NUMBER_FREED", { type, number: freed, before: `reserved ${range.join(" to ")}` });
  }
}

/** Whether a number is reserved. */
export function isReserved({ numbers }: Reserved, number: number): boolean {
  return numbers.some(([first, last]) => number >= first && number <= last);
}

/** The first number of a range that is neither reserved nor used any more. */
function firstFreed(
  [first, last]: readonly [number, number],
  { numbers }: Reserved,
  used: ReadonlySet<number>,
): number | undefined {
  let next = first;
  for (const [from, to] of numbers.toSorted(([a], [b]) => a - b)) {
    while (next < from && used.has(next)) next += 1;
    if (next < from) break;
    next = Math.max(next, to + 1);
  }
  while (next <= last && used.has(next)) next += 1;
  return next <= last ? next : undefined;
}
