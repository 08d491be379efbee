import { descriptorInvalid } from "./invalid.ts";
import { isNode } from "./set-options.ts";
import type { SetNode } from "./set-options.ts";

/** Where a declaration of a descriptor set stands. */
export interface SetScope {
  readonly file: string;
  readonly level: string;
  /** Full name of the package or message. */
  readonly name: string;
  /** Messages around it. */
  readonly depth: number;
}

/** A string member; empty where it is not set. */
export function textOf(node: SetNode, member: string): string {
  const value = Object.hasOwn(node, member) ? node[member] : undefined;
  return typeof value === "string" ? value : "";
}

/** A number member; undefined where it is not set. */
export function numberOf(node: SetNode, member: string): number | undefined {
  const value = Object.hasOwn(node, member) ? node[member] : undefined;
  return typeof value === "number" ? value : undefined;
}

/** A list of messages. */
export function nodesOf(node: SetNode, member: string): readonly SetNode[] {
  const value = node[member];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** A list of strings. */
export function textsOf(node: SetNode, member: string): readonly string[] {
  const value = node[member];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** A list of numbers. */
export function numbersOf(node: SetNode, member: string): readonly number[] {
  const value = node[member];
  return Array.isArray(value) ? value.filter((one) => typeof one === "number") : [];
}

const WORD = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PATH = /^\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** The name of what is declared, which must be a word of the language. @throws StreamsError `DESCRIPTOR_INVALID` */
export function nameOf(node: SetNode, { file, name: scope }: SetScope): string {
  const name = textOf(node, "name");
  const place = scope === "" ? file : `${file}: ${scope}`;
  // As in text; there it is the parser that refuses it.
  if (name === "__proto__") throw descriptorInvalid(`${place}: the name "__proto__" is not allowed`);
  if (!WORD.test(name)) throw descriptorInvalid(`${place}: a declaration without a usable name`);
  return name;
}

/** A reference to a type, or the name of a package. @throws StreamsError `DESCRIPTOR_INVALID` */
export function checkedPath(path: string, place: string): string {
  if (!PATH.test(path)) throw descriptorInvalid(`${place}: the name of a type or package is none`);
  return path;
}
