// Writes src/descriptors/builtin.generated.ts from the .proto files beside this script. `--print` writes it to stdout.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".proto"))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => [relative(root, path).split(sep).join("/"), readFileSync(path, "utf8")])
  .toSorted(([a], [b]) => (a < b ? -1 : 1));

/** A string literal as the formatter writes it: with the quotes that need fewer escapes. */
function literal(source) {
  if (source.includes("\\")) throw new Error("a backslash in a .proto file is not foreseen here");
  const double = JSON.stringify(source);
  if (source.split('"').length <= source.split("'").length) return double;
  return `'${double.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

const text = `// Written by proto/generate.mjs from the .proto files; do not edit.
import type { ProtoFiles } from "../ports/decoder.ts";

/** The production contract, by import path. */
export const CONTRACT_FILES: ProtoFiles = {
${files.map(([path, source]) => `  ${JSON.stringify(path)}:\n    ${literal(source)},`).join("\n")}
};
`;

if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(join(root, "..", "src", "descriptors", "builtin.generated.ts"), text);
