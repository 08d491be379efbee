import type { BodyField, BodyPlan } from "./body-plan.ts";

/** The value of a map entry: where it is in the record's bytes, a message, or nothing (the type's zero). */
export type MapValue = number | BodyNode | undefined;

/** What was found for one field: an offset into the record's bytes per scalar, a node per message. */
export type Slot = number | BodyNode | (number | BodyNode)[] | Map<string, MapValue> | undefined;

/** What a node costs beside its slots, in the unit of {@link cellsOf}: about eight bytes. */
const NODE_CELLS = 8;

/** What a node takes, in cells of about eight bytes. */
export function cellsOf(plan: BodyPlan): number {
  return NODE_CELLS + (plan.wide ? NODE_CELLS : plan.fields.length);
}

/**
 * One message of a record, as places in the record's bytes: no value is made before it is written. Of a message with many
 * fields only those are held that came: a record may hold it a million times, empty.
 */
export class BodyNode {
  readonly plan: BodyPlan;
  /** Where the message began first. */
  readonly at: number;
  readonly #dense: Slot[];
  readonly #wide: Map<number, Slot> | undefined;
  /** Index of the member that is set, by oneof. */
  #chosen: Map<number, number> | undefined;

  constructor(plan: BodyPlan, at: number) {
    this.plan = plan;
    this.at = at;
    this.#wide = plan.wide ? new Map() : undefined;
    this.#dense = plan.wide ? [] : plan.fields.map(() => undefined);
  }

  /** What was found for the field at an index of the plan. */
  get(index: number): Slot {
    return this.#wide === undefined ? this.#dense[index] : this.#wide.get(index);
  }

  /** Sets a field, and unsets the other member of its oneof. */
  set(field: BodyField, slot: Slot): void {
    if (field.oneof !== undefined) this.#choose(field.oneof, field.index);
    this.#put(field.index, slot);
  }

  #put(index: number, slot: Slot): void {
    if (this.#wide === undefined) this.#dense[index] = slot;
    else this.#wide.set(index, slot);
  }

  #choose(oneof: number, index: number): void {
    this.#chosen ??= new Map();
    const before = this.#chosen.get(oneof);
    if (before === index) return;
    if (before !== undefined) this.#put(before, undefined);
    this.#chosen.set(oneof, index);
  }

  /** The fields that came or must come, by ascending number; of a message with few fields all. */
  fields(): readonly BodyField[] {
    const { fields, required } = this.plan;
    if (this.#wide === undefined) return fields;
    const indexes = [...new Set([...this.#wide.keys(), ...required])].toSorted((a, b) => a - b);
    return indexes.flatMap((index) => fields[index] ?? []);
  }
}
