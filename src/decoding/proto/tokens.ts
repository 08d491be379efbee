import { SCHEMA_LIMITS } from "../limits.ts";
import { descriptorInvalid } from "./invalid.ts";
import { readLiteral } from "./literals.ts";

/** What a piece of a .proto file is: https://protobuf.com/docs/language-spec, lexical analysis. */
export type TokenKind = "word" | "integer" | "float" | "text" | "symbol" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** As written; of text, what the literal means. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?/y;
const INTEGER = /^(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$/;
const AFTER_NUMBER = /[A-Za-z0-9_.]/;
const SYMBOLS = "{}[]()<>=;,.:-+/";
const BLANKS: ReadonlySet<string> = new Set([" ", "\t", "\r", "\n", "\v", "\f"]);

/**
 * Splits a .proto file into tokens, with one of kind `end` behind the last.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the file and the line.
 */
export function tokenize(file: string, source: string, maxTokens: number): Token[] {
  const tokenizer = new Tokenizer(file, source);
  const tokens: Token[] = [];
  for (;;) {
    const token = tokenizer.next();
    tokens.push(token);
    if (tokens.length > maxTokens)
      throw descriptorInvalid(`${file}: more than ${SCHEMA_LIMITS.maxTokens} tokens in all files`);
    if (token.kind === "end") return tokens;
  }
}

class Tokenizer {
  readonly #file: string;
  readonly #source: string;
  #at: number;
  #line = 1;

  constructor(file: string, source: string) {
    this.#file = file;
    this.#source = source;
    // A byte order mark is allowed, as by protoc.
    this.#at = source.startsWith("\ufeff") ? 1 : 0;
  }

  next(): Token {
    this.#skipBlanks();
    const line = this.#line;
    const first = this.#source.charAt(this.#at);
    if (first === "") return { kind: "end", text: "", line };
    if (first === '"' || first === "'") return { kind: "text", text: this.#literal(first), line };
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: "word", text: word, line };
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      if (AFTER_NUMBER.test(this.#source.charAt(this.#at))) throw this.#fault("a number runs into what follows it");
      return { kind: this.#numberKind(number), text: number, line };
    }
    if (!SYMBOLS.includes(first)) throw this.#fault("a character that no .proto file can have here");
    this.#at += 1;
    return { kind: "symbol", text: first, line };
  }

  #fault(detail: string): Error {
    return descriptorInvalid(`${this.#file}: line ${this.#line}: ${detail}`);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #numberKind(text: string): "integer" | "float" {
    if (INTEGER.test(text)) return "integer";
    if (/^[0-9]+$/.test(text)) throw this.#fault("an octal number has a digit that is none");
    return "float";
  }

  #literal(quote: string): string {
    const literal = readLiteral(this.#source, this.#at + 1, quote);
    if (typeof literal === "string") throw this.#fault(literal);
    this.#at = literal.end;
    return literal.text;
  }

  #skipBlanks(): void {
    for (;;) {
      const start = this.#at;
      if (BLANKS.has(this.#source.charAt(start))) this.#at += 1;
      else if (this.#source.startsWith("//", start)) this.#skipTo("\n", 0);
      else if (this.#source.startsWith("/*", start)) this.#skipTo("*/", 2);
      else return;
      this.#countLines(start);
    }
  }

  /** Moves behind the next `mark`, or to the end of the file where a missing one is no fault (`least` 0). */
  #skipTo(mark: string, least: number): void {
    const found = this.#source.indexOf(mark, this.#at + least);
    if (found < 0 && least > 0) throw this.#fault("a comment is not closed");
    if (least > 0 && this.#source.slice(this.#at + least, found).includes("/*")) {
      throw this.#fault("a comment begins within a comment");
    }
    this.#at = found < 0 ? this.#source.length : found + mark.length;
  }

  /** Looks at what was skipped only: a search beyond it would go to the end of a file of one line, each time. */
  #countLines(from: number): void {
    for (let at = from; at < this.#at; at += 1) if (this.#source.charAt(at) === "\n") this.#line += 1;
  }
}
