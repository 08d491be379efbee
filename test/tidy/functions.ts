import { lineAt, scan } from "./lexer.ts";

/** A function's body. */
export interface FunctionSpan {
  /** Line of the opening brace. */
  readonly line: number;
  /** Lines from the opening to the closing brace, both included. */
  readonly lines: number;
  /** Whether its body declares tests: then it is a chapter and not a step. */
  readonly groupsTests: boolean;
}

const CONTROL = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);

/** Every function with a braced body, nested ones included, found by counting braces. */
export function functionsOf(text: string): readonly FunctionSpan[] {
  const { code } = scan(text);
  const opened: { readonly at: number; readonly isFunction: boolean }[] = [];
  const spans: FunctionSpan[] = [];
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === "{") opened.push({ at, isFunction: opensFunction(code, at) });
    if (code[at] !== "}") continue;
    const start = opened.pop();
    if (start?.isFunction !== true) continue;
    const line = lineAt(code, start.at);
    const groupsTests = /(?<![.\w$])(?:describe|test|it)(?:\.\w+)*\s*[(<]/.test(code.slice(start.at, at));
    spans.push({ line, lines: lineAt(code, at) - line + 1, groupsTests });
  }
  return spans;
}

function opensFunction(code: string, brace: number): boolean {
  const before = code.slice(Math.max(0, brace - 2000), brace).trimEnd();
  if (before.endsWith("=>")) return true;
  if (before.endsWith(")")) return !CONTROL.has(wordBefore(before, openingOf(before)));
  // A return type stands between the parameters and the body, perhaps with braces of its own.
  const head = withoutBraced(before);
  const statement = head.slice(Math.max(head.lastIndexOf(";"), head.lastIndexOf("{")) + 1);
  return /\)\s*:[^;]*$/.test(statement) && !/^\s*(?:case|default)\b/.test(statement);
}

function withoutBraced(text: string): string {
  let rest = text;
  while (rest.endsWith("}")) rest = rest.slice(0, openingOf(rest, "{", "}")).trimEnd();
  return rest;
}

/** Position of the bracket that the last one of `text` closes. */
function openingOf(text: string, open = "(", close = ")"): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === close) depth += 1;
    if (text[at] === open) depth -= 1;
    if (depth === 0) return at;
  }
  return 0;
}

function wordBefore(text: string, at: number): string {
  return /(\w+)\s*$/.exec(text.slice(0, at))?.[1] ?? "";
}
