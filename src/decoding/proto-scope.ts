import protobuf from "protobufjs";
import { descriptorInvalid, nameOf } from "./proto-files.ts";
import { scalarType } from "./schema.ts";

type Target = protobuf.Type | protobuf.Enum;

/**
 * Finds types by the scoping rules of the protobuf language (innermost scope first; the first part of a dotted name
 * decides). protobufjs' own lookup also searches downwards and may find another type of the same name, which would
 * decode wrongly without a word.
 */
export class ProtoScope {
  readonly #types = new Map<string, Target>();
  readonly #namespaces = new Set<string>();

  constructor(root: protobuf.Root) {
    this.#collect(root);
  }

  /** All messages, groups included, of all files. */
  *messages(): Iterable<protobuf.Type> {
    for (const target of this.#types.values()) if (target instanceof protobuf.Type) yield target;
  }

  /** All enums of all files. */
  *enums(): Iterable<protobuf.Enum> {
    for (const target of this.#types.values()) if (target instanceof protobuf.Enum) yield target;
  }

  /** The message or enum that `reference` means where `user` stands. @throws StreamsError `DESCRIPTOR_INVALID`. */
  resolve(reference: string, user: protobuf.ReflectionObject): Target {
    const found = reference.startsWith(".") ? this.#types.get(reference.slice(1)) : this.#relative(reference, user);
    if (found !== undefined) return found;
    const file = user.filename === null ? "" : `${user.filename}: `;
    throw descriptorInvalid(`${file}${nameOf(user)}: no such type "${reference}"`);
  }

  /** Looks up every type that a field or extension beneath `namespace` names. @throws StreamsError `DESCRIPTOR_INVALID`. */
  check(namespace: protobuf.NamespaceBase): void {
    const fields = namespace instanceof protobuf.Type ? namespace.fieldsArray : [];
    // A copy of an extension in the message that it extends stands in another scope than the extension.
    for (const field of fields) if (field.declaringField === null) this.#checkField(field);
    for (const nested of namespace.nestedArray) {
      if (nested instanceof protobuf.Field) this.#checkField(nested);
      else if (nested instanceof protobuf.Namespace || nested instanceof protobuf.Type) this.check(nested);
    }
  }

  #checkField(field: protobuf.Field): void {
    if (field.extend !== undefined) this.resolve(field.extend, field);
    if (scalarType(field.type) === undefined) this.resolve(field.type, field);
  }

  #relative(reference: string, user: protobuf.ReflectionObject): Target | undefined {
    const [first = ""] = reference.split(".");
    let scope = user.parent === null ? "" : nameOf(user.parent);
    for (;;) {
      const prefix = scope === "" ? "" : `${scope}.`;
      const target = this.#types.get(prefix + reference);
      if (target !== undefined) return target;
      if (first !== reference && this.#isScope(prefix + first)) return undefined;
      if (scope === "") return undefined;
      scope = scope.includes(".") ? scope.slice(0, scope.lastIndexOf(".")) : "";
    }
  }

  #isScope(name: string): boolean {
    return this.#namespaces.has(name) || this.#types.has(name);
  }

  #collect(namespace: protobuf.NamespaceBase): void {
    for (const nested of namespace.nestedArray) {
      if (nested instanceof protobuf.Type || nested instanceof protobuf.Enum) this.#types.set(nameOf(nested), nested);
      if (nested instanceof protobuf.Namespace || nested instanceof protobuf.Type) {
        this.#namespaces.add(nameOf(nested));
        this.#collect(nested);
      }
    }
  }
}
