import { LineCounter, parseDocument, type Document, type Node } from "yaml";
import type { ConfigFault } from "./fault.ts";

/** Largest configuration file, in bytes. */
export const FILE_BYTES_MAX = 1024 * 1024;

/** A parsed file: its root and where things stand in it. */
export interface YamlFile {
  readonly document: Document;
  readonly root: Node;
  /** Line of a node, from 1. */
  lineOf(node: Node): number | undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "the same key occurs twice in one block",
  MULTIPLE_DOCS: "there is more than one document ('---')",
  TAG_RESOLVE_FAILED: "a tag ('!…') is used; none is known",
  TAB_AS_INDENT: "a tab indents the line; YAML wants spaces",
  BAD_INDENT: "the indentation does not fit",
  MISSING_CHAR: "a character is missing, such as a closing quote or bracket",
  BAD_SCALAR_START: "a plain value begins with a reserved character; quote it",
  BLOCK_AS_IMPLICIT_KEY: "there is a second ': ' in one line; quote the value",
};

/**
 * Parses the file as YAML 1.2, one document, unique keys, no tags. The parser's own texts are not passed on: they quote
 * what they met, which may be a secret.
 */
export function parseYaml(bytes: Uint8Array): YamlFile | readonly ConfigFault[] {
  if (bytes.length > FILE_BYTES_MAX)
    return wholeFile(`the file has ${bytes.length} bytes`, `at most ${FILE_BYTES_MAX}`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return wholeFile("the file is not UTF-8", "save it as UTF-8");
  }
  const lines = new LineCounter();
  let document: Document;
  try {
    document = parseDocument(text, {
      version: "1.2",
      uniqueKeys: true,
      strict: true,
      prettyErrors: false,
      lineCounter: lines,
    });
  } catch (cause) {
    // Thousands of nested brackets exhaust the parser's stack.
    if (cause instanceof RangeError) return wholeFile("the file is nested too deeply", "see docs/configuration.md");
    throw cause;
  }
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    return problems.map((problem) => ({
      path: "",
      line: lines.linePos(problem.pos[0]).line,
      found: `not well-formed YAML: ${REASONS[problem.code] ?? problem.code}`,
      right: "correct the line",
    }));
  }
  const root = document.contents;
  if (root === null) return wholeFile("the file is empty", "write 'sources: []' to run without sources");
  return {
    document,
    root,
    lineOf: (node) => (node.range ? lines.linePos(node.range[0]).line : undefined),
  };
}

function wholeFile(found: string, right: string): readonly ConfigFault[] {
  return [{ path: "", found, right }];
}
