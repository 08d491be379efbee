import type { CompatibilityCode, CompatibilityReason } from "../ports/descriptor-checks.ts";

/** Every difference in words, and whether it breaks a source unless the comparison says otherwise. */
export const DIFFERENCES: Readonly<Record<CompatibilityCode, { readonly breaks: boolean; readonly text: string }>> = {
  TYPE_CHANGED: { breaks: true, text: "the type has another wire format or another meaning" },
  TYPE_WIDTH: { breaks: false, text: "the type has the same wire format and other values" },
  TYPE_BYTES: { breaks: false, text: "text, bytes and messages are one wire format and other content" },
  MESSAGE_RENAMED: { breaks: false, text: "a message has another name, which is not on the wire" },
  LABEL_CHANGED: { breaks: true, text: "a single field and a list are read differently" },
  MAP_CHANGED: { breaks: true, text: "a map and any other field are read differently" },
  ONEOF_JOINED: { breaks: true, text: "in a oneof with fields that were beside it, one unsets the other" },
  ONEOF_LEFT: { breaks: false, text: "outside of its oneof the field no longer unsets the others" },
  NUMBER_RESERVED: { breaks: true, text: "the number or name was reserved" },
  NUMBER_REUSED: { breaks: true, text: "the number belonged to another field, which was removed since" },
  NUMBER_FREED: { breaks: true, text: "the number is not reserved any more" },
  FIELD_REMOVED: { breaks: true, text: "a field is gone, and its number is not reserved" },
  FIELD_RENAMED: { breaks: false, text: "a field has another name: JSON shows it under that" },
  REQUIRED_ADDED: { breaks: true, text: "a required field that earlier records need not have" },
  REQUIRED_REMOVED: { breaks: false, text: "a field is not required any more" },
  PRESENCE_CHANGED: { breaks: false, text: "whether zero differs from unset has changed" },
  ENUM_RENUMBERED: { breaks: true, text: "a value of an enum has another number" },
  ENUM_VALUE_REMOVED: { breaks: true, text: "a value of an enum is gone" },
  ENUM_VALUE_RENAMED: { breaks: false, text: "a value of an enum has another name: JSON shows that" },
  ENUM_CLOSED: { breaks: false, text: "numbers that the enum does not have are treated otherwise" },
  MESSAGE_REMOVED: { breaks: true, text: "a message is gone" },
  MAPPED_GONE: { breaks: true, text: "a field that feeds an input is gone" },
  MAPPED_CHANGED: { breaks: true, text: "a field that feeds an input has another type" },
};

/** What a reason is about. */
export interface Difference {
  readonly type: string;
  readonly number?: number;
  readonly before?: string;
  readonly after?: string;
  /** Where it is not what {@link DIFFERENCES} says. */
  readonly breaks?: boolean;
}

/** Collects reasons. The same difference to an older version is told once, for the newest that shows it. */
export class Reasons {
  readonly #reasons = new Map<string, CompatibilityReason>();
  /** Index of the older version that is being compared. */
  against = 0;

  add(code: CompatibilityCode, { type, number, before = "", after = "", breaks }: Difference): void {
    const key = `${code} ${type} ${number ?? ""} ${code === "ENUM_RENUMBERED" ? before : ""}`;
    if (this.#reasons.has(key)) return;
    const known = DIFFERENCES[code];
    const reason = { code, type, number, before, after, text: known.text, against: this.against };
    this.#reasons.set(key, { ...reason, breaks: breaks ?? known.breaks });
  }

  get breaking(): boolean {
    return [...this.#reasons.values()].some(({ breaks }) => breaks);
  }

  /** What breaks first; then by type and number. */
  sorted(): CompatibilityReason[] {
    return [...this.#reasons.values()].toSorted(
      (a, b) =>
        Number(b.breaks) - Number(a.breaks) ||
        compare(a.type, b.type) ||
        (a.number ?? 0) - (b.number ?? 0) ||
        compare(a.code, b.code),
    );
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
