/**
 * A scanner that knows just enough of TypeScript to tell code from comments, strings, templates and regular expressions.
 * (TypeScript 7 has no API to ask.)
 */
export interface Scanned {
  readonly text: string;
  /** The same length and lines as `text`, with everything blank that is not code. Quotes stay where they are. */
  readonly code: string;
}

const WORD = /[\w$]/;
/** Words behind which a slash begins a regular expression and does not divide. */
const BEFORE_REGEX = new Set(
  "return typeof case in of delete void throw new else do instanceof yield await".split(" "),
);

/** Scans a source text. */
export function scan(text: string): Scanned {
  const scanner = new Scanner(text);
  scanner.run(0);
  return { text, code: scanner.code() };
}

class Scanner {
  readonly #text: string;
  readonly #blank: boolean[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#blank = Array.from({ length: text.length }, () => false);
  }

  code(): string {
    return [...this.#blank.keys()]
      .map((at) => (this.#blank[at] === true && this.#text[at] !== "\n" ? " " : this.#text.charAt(at)))
      .join("");
  }

  /** Walks code until the end, or until the brace that closes a template's expression when `depth` is 1. */
  run(depth: number): void {
    let open = depth;
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at);
      const next = this.#text.charAt(this.#at + 1);
      if (char === "{") open += 1;
      if (char === "}") open -= 1;
      if (depth === 1 && open === 0) return;
      if (char === "/" && next === "/") this.#skipTo("\n", 0);
      else if (char === "/" && next === "*") this.#skipTo("*/", 2);
      else if (char === '"' || char === "'") this.#quoted(char);
      else if (char === "`") this.#template();
      else if (char === "/" && this.#regexMayStart()) this.#regex();
      else this.#at += 1;
    }
  }

  #blankTo(end: number): void {
    for (; this.#at < end; this.#at += 1) this.#blank[this.#at] = true;
  }

  #skipTo(mark: string, length: number): void {
    const found = this.#text.indexOf(mark, this.#at + length);
    this.#blankTo(found === -1 ? this.#text.length : found + length);
  }

  #quoted(quote: string): void {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== quote && this.#text[end] !== "\n") {
      end += this.#text[end] === "\\" ? 2 : 1;
    }
    this.#at += 1;
    this.#blankTo(end);
    this.#at = end + 1;
  }

  #template(): void {
    this.#at += 1;
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at);
      if (char === "`") break;
      if (char === "$" && this.#text[this.#at + 1] === "{") {
        this.#at += 2;
        this.run(1);
        this.#at += 1;
      } else {
        this.#blankTo(this.#at + (char === "\\" ? 2 : 1));
      }
    }
    this.#at += 1;
  }

  #regexMayStart(): boolean {
    let before = this.#at - 1;
    while (before >= 0 && (this.#blank[before] === true || /\s/.test(this.#text.charAt(before)))) before -= 1;
    const char = this.#text.charAt(before);
    if (char === "" || "(,=:[!&|?{};+-*%~^<>".includes(char)) return true;
    if (!WORD.test(char)) return false;
    let start = before;
    while (start > 0 && WORD.test(this.#text.charAt(start - 1))) start -= 1;
    return BEFORE_REGEX.has(this.#text.slice(start, before + 1));
  }

  #regex(): void {
    let inClass = false;
    let end = this.#at + 1;
    for (; end < this.#text.length; end += 1) {
      const char = this.#text[end];
      if (char === "\\") end += 1;
      else if (char === "[") inClass = true;
      else if (char === "]") inClass = false;
      else if ((char === "/" && !inClass) || char === "\n") break;
    }
    this.#blankTo(end + 1);
    while (/[a-z]/.test(this.#text.charAt(this.#at))) this.#blankTo(this.#at + 1);
  }
}

/** Line of a position, from 1. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}
