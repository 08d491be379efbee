import { lineAt, scan } from "./lexer.ts";

/** One module that a file names. */
export interface Import {
  /** As written; empty where it is not a plain text. */
  readonly specifier: string;
  readonly line: number;
}

/**
 * Every module that a source names: `import … from`, `import "…"`, `export … from`, `import()`, `import … = require()`,
 * and calls of what createRequire returned. A module named by anything but a plain text has an empty specifier.
 */
export function importsOf(text: string): readonly Import[] {
  const { code } = scan(text);
  const required = [...code.matchAll(/\b(\w+)\s*=\s*createRequire\s*\(/g)].map((match) => match[1]);
  const callers = ["import", ...required].join("|");
  const patterns = [
    /\b(?:import|export)\b[^;"'`()=]*?\bfrom\s*(?=["'])/g,
    /\bimport\s*(?=["'])/g,
    new RegExp(`(?<![.\\w$])(?:${callers})(?:\\.resolve)?\\s*\\(\\s*`, "g"),
    /(?<![.\w$])require\s*\(\s*(?=["'`])/g,
    /\bcreateRequire\s*\([^)]*\)\s*(?:\.resolve\s*)?\(\s*/g,
  ];
  const found = patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match.index + match[0].length),
  );
  return [...new Set(found)]
    .toSorted((a, b) => a - b)
    .map((at) => ({ specifier: plainText(text, at), line: lineAt(text, at) }));
}

function plainText(text: string, at: number): string {
  const match = /^(["'`])([^"'`$\n]*)\1/.exec(text.slice(at, at + 500));
  return match?.[2] ?? "";
}

/** Name of the package of a bare specifier: `@scope/name` or `name`; `node:…` stays whole. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
