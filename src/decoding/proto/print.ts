import { hasEdition } from "./model.ts";
import type {
  NumberRange,
  OptionValue,
  ProtoEnum,
  ProtoField,
  ProtoFile,
  ProtoImport,
  ProtoMessage,
  ProtoOption,
  ProtoService,
} from "./model.ts";

/** Writes a file as text that the parser reads back as the same. */
export function printFile(file: ProtoFile): string {
  const printer = new Printer(file.level);
  printer.file(file);
  return printer.text();
}

/** Lines of one file. */
class Printer {
  readonly #level: string;
  readonly #lines: string[] = [];
  #indent = "";

  constructor(level: string) {
    this.#level = level;
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  file(file: ProtoFile): void {
    const word = hasEdition(file.level) ? "edition" : "syntax";
    this.#line(`${word} = ${quoted(file.level)};`);
    if (file.package !== "") this.#line(`package ${file.package};`);
    for (const { kind, path } of file.imports) this.#line(`import ${importWord(kind)}${quoted(path)};`);
    this.#options(file.options);
    this.#declarations(file);
    for (const service of file.services) this.#service(service);
  }

  #line(text: string): void {
    this.#lines.push(this.#indent + text);
  }

  #block(head: string, body: () => void): void {
    this.#line(`${head} {`);
    const outer = this.#indent;
    this.#indent += "  ";
    body();
    this.#indent = outer;
    this.#line("}");
  }

  #options(options: readonly ProtoOption[]): void {
    for (const { name, value } of options) this.#line(`option ${name} = ${shown(value)};`);
  }

  #declarations({ messages, enums, extensions }: Pick<ProtoFile, "messages" | "enums" | "extensions">): void {
    for (const extension of extensions) {
      this.#block(`extend ${extension.extendee ?? ""}`, () => this.#field(extension, messages));
    }
    for (const message of messages) if (!message.group) this.#message(message, `message ${message.name}`);
    for (const one of enums) this.#enum(one);
  }

  #message(message: ProtoMessage, head: string): void {
    this.#block(head, () => {
      const { fields, oneofs, messages, reservedNames } = message;
      this.#options(message.options);
      for (const field of fields) if (field.oneof === undefined) this.#field(field, messages);
      for (const [index, oneof] of oneofs.entries()) {
        this.#block(`oneof ${oneof.name}`, () => {
          this.#options(oneof.options);
          for (const field of fields) if (field.oneof === index) this.#field(field, messages);
        });
      }
      for (const range of message.extensionRanges) this.#line(`extensions ${ranged(range)};`);
      this.#reserved(message.reservedNumbers, reservedNames);
      this.#declarations(message);
    });
  }

  #field(field: ProtoField, messages: readonly ProtoMessage[]): void {
    const { name, type, number, mapKey, label, group } = field;
    const lead = label === undefined ? "" : `${label} `;
    const options = field.options.map((option) => `${option.name} = ${shown(option.value)}`);
    const tail = options.length === 0 ? "" : ` [${options.join(", ")}]`;
    const own = group ? messages.find((message) => message.group && message.name === type) : undefined;
    if (own !== undefined) this.#message(own, `${lead}group ${type} = ${number}${tail}`);
    else this.#line(`${lead}${mapKey === undefined ? type : `map<${mapKey}, ${type}>`} ${name} = ${number}${tail};`);
  }

  #enum({ name, options, values, reservedNumbers, reservedNames }: ProtoEnum): void {
    this.#block(`enum ${name}`, () => {
      this.#options(options);
      for (const value of values) {
        const own = value.options.map((option) => `${option.name} = ${shown(option.value)}`);
        this.#line(`${value.name} = ${value.number}${own.length === 0 ? "" : ` [${own.join(", ")}]`};`);
      }
      this.#reserved(reservedNumbers, reservedNames);
    });
  }

  #reserved(numbers: readonly NumberRange[], names: readonly string[]): void {
    for (const range of numbers) this.#line(`reserved ${ranged(range)};`);
    // Editions write reserved names as words.
    for (const name of names) this.#line(`reserved ${hasEdition(this.#level) ? name : quoted(name)};`);
  }

  #service({ name, options, methods }: ProtoService): void {
    this.#block(`service ${name}`, () => {
      this.#options(options);
      for (const method of methods) {
        const [input = "", output = ""] = method.types;
        this.#block(`rpc ${method.name}(${input}) returns (${output})`, () => this.#options(method.options));
      }
    });
  }
}

function importWord(kind: ProtoImport["kind"]): string {
  return kind === "plain" ? "" : `${kind} `;
}

function ranged([first, last]: NumberRange): string {
  return first === last ? String(first) : `${first} to ${last}`;
}

function shown({ is, text }: OptionValue): string {
  return is === "text" ? quoted(text) : text;
}

/** A string literal: what is not plain is written as the bytes of its UTF-8, in octal. */
function quoted(text: string): string {
  const escaped = text.replace(/["\\\p{Cc}\p{Cs}]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
  );
  return `"${escaped}"`;
}
