import { Value } from "@sinclair/typebox/value";
import type { Static, TSchema } from "@sinclair/typebox";
import { InvariantViolation, invariant } from "../core/invariant.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/** A control record read as what its schema says, with the tag to change it by. */
export interface Stored<T> {
  readonly tag: string;
  readonly value: T;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** More than this many lost races in a row is a bug, not contention. */
const ATTEMPTS_MAX = 50;

/** Reads one record. @throws KvFault; InvariantViolation when the stored bytes are not what the schema says. */
export async function readRecord<S extends TSchema>(
  control: ControlStore,
  name: string,
  schema: S,
): Promise<Stored<Static<S>> | undefined> {
  const record = await control.read(name);
  return record === undefined ? undefined : { tag: record.tag, value: decode(name, schema, record.value) };
}

/** Writes a record that does not exist yet. Returns what stands afterwards: ours, or the one that was there. @throws KvFault */
export async function createRecord<S extends TSchema>(
  control: ControlStore,
  name: string,
  schema: S,
  value: Static<S>,
): Promise<Stored<Static<S>>> {
  return updateRecord(control, name, schema, (present) => present ?? value);
}

/**
 * Changes a record by compare-and-set until it took. `change` gets the present value (undefined: none) and returns the
 * one that should stand; returning the same object writes nothing. It may run several times. @throws KvFault
 */
export async function updateRecord<S extends TSchema>(
  control: ControlStore,
  name: string,
  schema: S,
  change: (present: Static<S> | undefined) => Static<S>,
): Promise<Stored<Static<S>>> {
  let present = await readRecord(control, name, schema);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const value = change(present?.value);
    if (present !== undefined && value === present.value) return present;
    const bytes = encoder.encode(JSON.stringify(value));
    const result = await control.compareAndSet(name, present?.tag, bytes);
    if (result.outcome === "written") return { tag: result.record.tag, value };
    const { current } = result;
    present = current === undefined ? undefined : { tag: current.tag, value: decode(name, schema, current.value) };
  }
  throw new InvariantViolation("CONTROL_CONTENTION", `${name} changed ${ATTEMPTS_MAX} times under one update`);
}

/**
 * One attempt to write a record whose present tag is known (undefined: there is none). Returns whether it took. @throws KvFault
 */
export async function replaceRecord<S extends TSchema>(
  control: ControlStore,
  name: string,
  schema: S,
  expected: string | undefined,
  value: Static<S>,
): Promise<boolean> {
  const fault = Value.Errors(schema, value).First();
  invariant(fault === undefined, "CONTROL_FORMAT", `${name}${fault?.path ?? ""}: ${fault?.message ?? ""}`);
  const { outcome } = await control.compareAndSet(name, expected, encoder.encode(JSON.stringify(value)));
  return outcome === "written";
}

function decode<S extends TSchema>(name: string, schema: S, bytes: Uint8Array): Static<S> {
  const value = parse(name, bytes);
  const fault = Value.Errors(schema, value).First();
  invariant(fault === undefined, "CONTROL_FORMAT", `${name}${fault?.path ?? ""}: ${fault?.message ?? ""}`);
  return value;
}

function parse(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    // What the parser says would quote the record.
    throw new InvariantViolation("CONTROL_FORMAT", `${name}: not JSON in UTF-8`);
  }
}
