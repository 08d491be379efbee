import { SCHEMA_LIMITS } from "../limits.ts";
import { descriptorInvalid } from "./invalid.ts";
import type { NumberRange } from "./model.ts";
import type { Token } from "./tokens.ts";

/** Longest integer that is looked at: 64 bits have 22 octal digits. */
const MAX_DIGITS = 24;

const { maxNameLength, maxFullNameLength } = SCHEMA_LIMITS;

/** Walks the tokens of one file. Methods that expect something throw StreamsError `DESCRIPTOR_INVALID`. */
export class TokenReader {
  readonly file: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(file: string, tokens: readonly Token[]) {
    this.file = file;
    this.#tokens = tokens;
  }

  /** The token that comes, or one behind it; the last one is of kind `end`. */
  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: "end", text: "", line: 0 };
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  fault(detail: string): Error {
    return descriptorInvalid(`${this.file}: line ${this.peek().line}: ${detail}`);
  }

  /** Whether a word or symbol comes. */
  at(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.text === text && (token.kind === "word" || token.kind === "symbol");
  }

  /** Takes a word or symbol if it comes. */
  take(text: string): boolean {
    const taken = this.at(text);
    if (taken) this.#at += 1;
    return taken;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.fault(`expected "${text}" instead of ${this.#shown()}`);
  }

  /** A name without dots. */
  word(what: string): string {
    if (this.peek().kind !== "word") throw this.fault(`expected ${what} instead of ${this.#shown()}`);
    const { text } = this.next();
    // JSON bodies carry names: this one would reach a prototype in whoever builds objects of them.
    if (text === "__proto__") throw this.fault('the name "__proto__" is not allowed');
    if (text.length > maxNameLength) throw this.fault(`a name has more than ${maxNameLength} characters`);
    return text;
  }

  /** A name with or without dots, `.a.b` among them where `absolute` allows it. */
  path(what: string, absolute = false): string {
    let path = absolute && this.take(".") ? "." : "";
    path += this.word(what);
    while (this.take(".")) {
      path += `.${this.word(what)}`;
      if (path.length > maxFullNameLength) throw this.fault(`a name has more than ${maxFullNameLength} characters`);
    }
    return path;
  }

  /** A string, in one or more literals. */
  text(what: string): string {
    if (this.peek().kind !== "text") throw this.fault(`expected ${what} instead of ${this.#shown()}`);
    let text = "";
    while (this.peek().kind === "text") text += this.next().text;
    return text;
  }

  /** An integer with or without a sign; infinite when it is far too large. */
  integer(what: string, signed = false): number {
    const negative = signed && this.take("-");
    if (this.peek().kind !== "integer") throw this.fault(`expected ${what} instead of ${this.#shown()}`);
    const { text } = this.next();
    if (text.length > MAX_DIGITS) return Number.POSITIVE_INFINITY;
    const value = Number(/^0[0-7]+$/.test(text) ? `0o${text}` : text);
    return negative && value !== 0 ? -value : value;
  }

  /** `1, 3 to 5, 7 to max`. */
  ranges(what: string, max: number, signed = false): NumberRange[] {
    const ranges: NumberRange[] = [];
    do {
      const first = this.integer(what, signed);
      const last = this.take("to") ? (this.take("max") ? max : this.integer(what, signed)) : first;
      if (last < first) throw this.fault(`the range ${first} to ${last} ends before it begins`);
      ranges.push([first, last]);
    } while (this.take(","));
    return ranges;
  }

  #shown(): string {
    const { kind, text } = this.peek();
    if (kind === "end") return "the end of the file";
    return kind === "text" ? "a string" : `"${text.slice(0, 64)}"`;
  }
}
