import type { ProtoFileSet } from "./files.ts";
import { SCHEMA_LIMITS } from "../limits.ts";
import { descriptorInvalid } from "./invalid.ts";
import type { ProtoEnum, ProtoFile, ProtoMessage, ProtoNode } from "./model.ts";

/** A type that a field can have. */
export type ProtoType =
  | { readonly is: "message"; readonly of: ProtoMessage }
  | { readonly is: "enum"; readonly of: ProtoEnum };

const { maxDeclarations, maxFullNameLength } = SCHEMA_LIMITS;

interface Symbol {
  readonly file: string;
  readonly type: ProtoType | undefined;
}

/** Who uses a name, and where. */
export interface NameUser {
  readonly file: string;
  readonly fullName: string;
  /** Full name of the message or package that it stands in. */
  readonly scope: string;
}

/**
 * Every name of a set of files. Names are found by the scoping rules of the protobuf language: innermost scope first, the
 * first part of a dotted name decides, and only what the file itself or an import of it declares is there.
 */
export class Symbols {
  readonly #visible: ProtoFileSet["visible"];
  readonly #symbols = new Map<string, Symbol>();
  /** Files that declare something in a package. */
  readonly #packages = new Map<string, Set<string>>();

  /** @throws StreamsError `DESCRIPTOR_INVALID`: a name that is declared twice. */
  constructor({ files, visible }: ProtoFileSet) {
    this.#visible = visible;
    for (const file of files.values()) this.#addPackage(file);
    for (const file of files.values()) this.#addFile(file);
  }

  /** The type that `reference` means to its user. @throws StreamsError `DESCRIPTOR_INVALID`. */
  resolve(reference: string, user: NameUser): ProtoType {
    const found = reference.startsWith(".")
      ? this.#visibleSymbol(reference.slice(1), user.file)
      : this.#relative(reference, user);
    if (found?.type !== undefined) return found.type;
    const problem = found === undefined ? this.#why(reference) : `"${reference}" is not a type`;
    throw descriptorInvalid(`${user.file}: ${user.fullName}: ${problem}`);
  }

  /** All messages, those within others included. */
  *messages(): Iterable<ProtoMessage> {
    for (const { type } of this.#symbols.values()) if (type?.is === "message") yield type.of;
  }

  /** All enums. */
  *enums(): Iterable<ProtoEnum> {
    for (const { type } of this.#symbols.values()) if (type?.is === "enum") yield type.of;
  }

  #why(reference: string): string {
    const elsewhere = this.#symbols.get(reference.replace(/^\./, ""));
    if (elsewhere === undefined) return `no such type "${reference}"`;
    return `no such type "${reference}": it is declared in ${elsewhere.file}, which is not imported or is hidden`;
  }

  #relative(reference: string, user: NameUser): Symbol | undefined {
    const [first = ""] = reference.split(".");
    let { scope } = user;
    for (;;) {
      const prefix = scope === "" ? "" : `${scope}.`;
      const found = this.#visibleSymbol(prefix + reference, user.file);
      // Of a name without dots, fields and values of the same name are passed over.
      if (found !== undefined && (found.type !== undefined || first !== reference)) return found;
      if (first !== reference && this.#isScope(prefix + first, user.file)) return undefined;
      if (scope === "") return undefined;
      scope = scope.includes(".") ? scope.slice(0, scope.lastIndexOf(".")) : "";
    }
  }

  #visibleSymbol(fullName: string, file: string): Symbol | undefined {
    const found = this.#symbols.get(fullName);
    return found !== undefined && this.#visible.get(file)?.has(found.file) === true ? found : undefined;
  }

  #isScope(name: string, file: string): boolean {
    const files = this.#packages.get(name);
    const visible = this.#visible.get(file);
    if (files !== undefined && [...files].some((path) => visible?.has(path) === true)) return true;
    return this.#visibleSymbol(name, file)?.type !== undefined;
  }

  #addPackage({ path, package: name }: ProtoFile): void {
    let prefix = "";
    for (const part of name === "" ? [] : name.split(".")) {
      prefix += prefix === "" ? part : `.${part}`;
      const files = this.#packages.get(prefix) ?? new Set();
      this.#packages.set(prefix, files.add(path));
    }
  }

  #add({ file, fullName }: Pick<ProtoNode, "file" | "fullName">, type: ProtoType | undefined): void {
    if (fullName.length > maxFullNameLength) {
      throw descriptorInvalid(`${file}: a name has more than ${maxFullNameLength} characters with its scope`);
    }
    if (this.#symbols.size >= maxDeclarations) throw descriptorInvalid(`more than ${maxDeclarations} declarations`);
    const other = this.#symbols.get(fullName);
    if (other !== undefined) {
      const where = other.file === file ? "" : ` in ${other.file}`;
      throw descriptorInvalid(`${file}: "${fullName}" is already declared${where}`);
    }
    if (this.#packages.has(fullName)) throw descriptorInvalid(`${file}: "${fullName}" is the name of a package, too`);
    this.#symbols.set(fullName, { file, type });
  }

  #addFile(file: ProtoFile): void {
    this.#addDeclarations(file);
    for (const service of file.services) {
      this.#add(service, undefined);
      for (const method of service.methods) this.#add(method, undefined);
    }
  }

  #addDeclarations(holder: Pick<ProtoFile, "messages" | "enums" | "extensions">): void {
    for (const message of holder.messages) this.#addMessage(message);
    for (const found of holder.enums) {
      this.#add(found, { is: "enum", of: found });
      for (const value of found.values) this.#add(value, undefined);
    }
    for (const extension of holder.extensions) this.#add(extension, undefined);
  }

  #addMessage(message: ProtoMessage): void {
    this.#add(message, { is: "message", of: message });
    for (const oneof of message.oneofs) this.#add(oneof, undefined);
    for (const field of message.fields) {
      this.#add(field, undefined);
      if (field.mapKey === undefined) continue;
      // The message of the map's entries, which protoc makes, takes a name.
      this.#add({ file: field.file, fullName: `${message.fullName}.${entryName(field.name)}` }, undefined);
    }
    this.#addDeclarations(message);
  }
}

function entryName(field: string): string {
  const camel = field.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
  return `${camel.slice(0, 1).toUpperCase()}${camel.slice(1)}Entry`;
}
