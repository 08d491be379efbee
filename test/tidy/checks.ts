import { dirname, join } from "node:path/posix";
import { isCode, isWithin, type SourceFile } from "./files.ts";
import { functionsOf } from "./functions.ts";
import { importsOf, packageOf } from "./imports.ts";
import { lineAt, scan } from "./lexer.ts";
import {
  CODE_BANS,
  COMPUTED_IMPORTS,
  DOCUMENTED,
  FILE_LINES,
  FUNCTION_LINES,
  LAYERS,
  LENGTH_EXEMPT,
  NEVER_IMPORTED,
  PACKAGES,
  TEXT_BANS,
  WITHOUT_BUILTINS,
  type Ban,
} from "./rules.ts";

/** What a check says of a file: one line per violation, `path:line: what; what instead`. */
export type Check = (file: SourceFile) => readonly string[];

/** Layers: who may import whom. */
const checkLayers: Check = (file) => {
  const layer = LAYERS.find(({ places }) => places.some((place) => isWithin(file.path, place)));
  if (layer === undefined) return [`${file.path}:1: the file is in no layer; add its folder to LAYERS`];
  const own = layer.places.filter((place) => isWithin(file.path, place));
  return importsOf(file.text).flatMap(({ specifier, line }) => {
    if (!specifier.startsWith(".")) return [];
    const target = join(dirname(file.path), specifier);
    const allowed = [...own, ...layer.mayImport].some((place) => isWithin(target, place));
    const never = NEVER_IMPORTED.some(
      ({ place, except }) =>
        isWithin(target, place) && !isWithin(file.path, place) && !except.some((from) => isWithin(file.path, from)),
    );
    return allowed && !never ? [] : [`${file.path}:${line}: imports ${target}; see LAYERS`];
  });
};

/** Packages: each has its homes. */
const checkPackages: Check = (file) =>
  importsOf(file.text).flatMap(({ specifier, line }) => {
    if (specifier === "")
      return Object.hasOwn(COMPUTED_IMPORTS, file.path)
        ? []
        : [`${file.path}:${line}: loads a computed name; see COMPUTED_IMPORTS`];
    if (specifier.startsWith(".")) return [];
    const name = packageOf(specifier);
    if (name.startsWith("node:")) {
      const pure = WITHOUT_BUILTINS.some((place) => isWithin(file.path, place));
      return pure ? [`${file.path}:${line}: imports ${name}; take what is needed as a value`] : [];
    }
    const homes = PACKAGES[name];
    if (homes === undefined) return [`${file.path}:${line}: imports ${name}, which PACKAGES does not know`];
    return homes.some((home) => isWithin(file.path, home))
      ? []
      : [`${file.path}:${line}: imports ${name}, which belongs to ${homes.join(", ") || "no code"}`];
  });

/** Lengths of files and functions. */
const checkLengths: Check = (file) => {
  const lines = file.text.split("\n").length - 1;
  const max = FILE_LINES.find(({ place }) => isWithin(file.path, place))?.max ?? 0;
  const tooLong =
    lines > max && !LENGTH_EXEMPT.includes(file.path)
      ? [`${file.path}:1: ${lines} lines; split it, ${max} is the limit`]
      : [];
  const functions = functionsOf(file.text)
    .filter((span) => span.lines > FUNCTION_LINES && !span.groupsTests)
    .map(
      (span) =>
        `${file.path}:${span.line}: a function of ${span.lines} lines; split it, ${FUNCTION_LINES} is the limit`,
    );
  return [...tooLong, ...functions];
};

function banned(file: SourceFile, text: string, bans: readonly Ban[]): readonly string[] {
  return bans
    .filter(({ allowed }) => !allowed.some((place) => isWithin(file.path, place)))
    .flatMap(({ pattern, instead }) =>
      [...text.matchAll(new RegExp(pattern, "g"))].map(
        (match) => `${file.path}:${lineAt(text, match.index)}: ${JSON.stringify(match[0])}; use ${instead}`,
      ),
    );
}

/** What must not stand in code. */
const checkCode: Check = (file) => banned(file, scan(file.text).code, CODE_BANS);

/** What must not stand in any text. */
const checkText: Check = (file) => banned(file, file.text, TEXT_BANS);

const EXPORT = /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/;

/** Doc comments of exports. The union of a list's words, right behind the list, is documented by it. */
const checkComments: Check = (file) => {
  if (!DOCUMENTED.some((place) => isWithin(file.path, place))) return [];
  const lines = file.text.split("\n");
  return lines.flatMap((line, index) => {
    const name = EXPORT.exec(line)?.[1];
    const before = lines[index - 1] ?? "";
    const unionOfList = /^export type \w+ = \(typeof \w+\)\[number\];$/.test(line);
    if (name === undefined || unionOfList || before.endsWith("*/")) return [];
    return [`${file.path}:${index + 1}: ${name} has no doc comment`];
  });
};

/** Every check by its name. */
export const CHECKS = {
  layers: checkLayers,
  packages: checkPackages,
  lengths: checkLengths,
  code: checkCode,
  text: checkText,
  comments: checkComments,
} as const satisfies Record<string, Check>;

/** Words of every exported `…_STATES` list. */
export function stateNames(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const lists = files.filter(isCode).flatMap(({ path, text }) => {
    if (!isWithin(path, "src")) return [];
    return [...text.matchAll(/export const (\w+_STATES) = \[([^\]]*)\] as const/g)].map(
      (match): [string, readonly string[]] => [
        match[1] ?? "",
        [...(match[2] ?? "").matchAll(/"([^"]+)"/g)].map((word) => word[1] ?? ""),
      ],
    );
  });
  return new Map(lists);
}

/** Folders of `files` below `places`, the places themselves left out. */
export function foldersOf(files: readonly SourceFile[], places: readonly string[]): readonly string[] {
  const folders = files.filter(isCode).map(({ path }) => dirname(path));
  return [...new Set(folders)].filter((folder) => places.some((place) => folder.startsWith(`${place}/`))).toSorted();
}

/** Whether a line of `design` names a folder: by its whole path, or by its name in a line about a folder above it. */
export function isMapped(folder: string, design: string): boolean {
  const parts = folder.split("/");
  const above = parts.slice(1).map((_, depth) => parts.slice(0, depth + 1).join("/"));
  const name = parts.at(-1) ?? "";
  return design.split("\n").some((line) => {
    if (line.includes(`\`${folder}/`)) return true;
    const inRow = line.includes(`\`${name}/\``) || line.includes(`\`${name}\``);
    return inRow && above.some((parent) => line.startsWith(`| \`${parent}/\``));
  });
}
