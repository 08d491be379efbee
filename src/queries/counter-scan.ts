import type { KeyRange } from "../core/counting/keys.ts";
import { type FoundSlot, readSlotKey, type SlotName } from "../core/counting/reading.ts";
import { decodeSlot } from "../core/counting/slot.ts";
import { StreamsError } from "../errors.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/** A slot as it was found under its key. */
export interface NamedSlot extends FoundSlot {
  readonly name: SlotName;
  readonly offset: number;
}

/** What a scan looks for. */
export interface CounterScan {
  readonly range: KeyRange;
  /** Where an earlier scan of the range left off. */
  readonly cursor: string | undefined;
  /** What belongs together in an answer; equal ones follow each other in the order of keys. Undefined: not wanted. */
  readonly groupOf: (name: SlotName) => string | undefined;
  readonly groupsMax: number;
}

/** Slots by group, whole groups only. */
export interface ScannedGroups {
  readonly groups: readonly (readonly NamedSlot[])[];
  readonly next: string | undefined;
}

/** Cells of one page of the plane's. */
const PAGE_CELLS = 2_000;

/** Reads the slots of a range by group, up to so many groups. @throws StreamsError CURSOR_UNKNOWN; KvFault */
export async function scanGroups(plane: KvPlane, source: string, scan: CounterScan): Promise<ScannedGroups> {
  const groups = new Map<string, NamedSlot[]>();
  let from: Uint8Array | undefined = startOf(scan);
  while (from !== undefined) {
    const page = await plane.scan({ space: "slot", from, to: scan.range.to, limit: PAGE_CELLS });
    for (const { key, order, bytes } of page.cells) {
      const name = readSlotKey(key);
      const group = name.owner.source === source ? scan.groupOf(name) : undefined;
      if (group === undefined) continue;
      const known = groups.get(group);
      if (known === undefined && groups.size === scan.groupsMax) {
        return { groups: [...groups.values()], next: Buffer.from(key).toString("base64url") };
      }
      const slot = { name, owner: name.owner, ...decodeSlot({ order, bytes }) };
      if (known === undefined) groups.set(group, [slot]);
      else known.push(slot);
    }
    from = page.next;
  }
  return { groups: [...groups.values()], next: undefined };
}

function startOf({ range, cursor }: CounterScan): Uint8Array {
  if (cursor === undefined) return range.from;
  const start = Buffer.from(cursor, "base64url");
  const within = Buffer.compare(start, range.from) >= 0 && Buffer.compare(start, range.to) < 0;
  if (!within) throw new StreamsError("CURSOR_UNKNOWN", "it is no cursor of this question");
  return start;
}
