import type { ProtoFiles } from "../../ports/decoder.ts";
import { WELL_KNOWN_FILES } from "../well-known.ts";
import { SCHEMA_LIMITS } from "../limits.ts";
import { descriptorInvalid } from "./invalid.ts";
import type { ProtoFile } from "./model.ts";
import { parseProtoFile } from "./parse-file.ts";

/** Parsed files with everything that they import. */
export interface ProtoFileSet {
  /** By import path: a file after all that it imports. */
  readonly files: ReadonlyMap<string, ProtoFile>;
  /** Paths of what was given, without what is known anyway. */
  readonly given: ReadonlySet<string>;
  /** Paths of the files whose types a file may use: its own, its imports and what these import publicly. */
  readonly visible: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Parses files and all that they import. Nothing is read but what is given and the well-known files.
 * @throws StreamsError `DESCRIPTOR_INVALID`: grammar, a missing import, one that comes twice, a cycle of imports.
 */
export function loadProtoFiles(sources: ProtoFiles): ProtoFileSet {
  const loader = new Loader(sources);
  const paths = Object.keys(sources).toSorted();
  if (paths.length === 0) throw descriptorInvalid("there are no files");
  for (const path of paths) loader.load(path, undefined);
  const { files } = loader;
  const visible = new Map([...files.values()].map((file) => [file.path, visibleTo(file, files)]));
  return { files, given: new Set(paths.filter((path) => !WELL_KNOWN_FILES.has(path))), visible };
}

const { maxFiles, maxSourceLength, maxTokens } = SCHEMA_LIMITS;

class Loader {
  readonly files = new Map<string, ProtoFile>();
  readonly #sources: ProtoFiles;
  /** Files that are being loaded, the importing one before the imported one. */
  readonly #open: string[] = [];
  #length = 0;
  #tokens = 0;

  constructor(sources: ProtoFiles) {
    this.#sources = sources;
  }

  load(path: string, importer: string | undefined): void {
    if (this.files.has(path)) return;
    const cycle = this.#open.indexOf(path);
    if (cycle >= 0) throw descriptorInvalid(`the imports go round: ${[...this.#open.slice(cycle), path].join(" → ")}`);
    if (this.#open.length >= MAX_CHAIN) throw descriptorInvalid(`more than ${MAX_CHAIN} files import one another`);
    const source = this.#source(path);
    if (source === undefined) {
      const by = importer === undefined ? "" : `${importer}: `;
      throw descriptorInvalid(`${by}the import "${path}" is neither uploaded nor well-known`);
    }
    this.#open.push(path);
    this.#length += source.length;
    if (this.#length > maxSourceLength) throw descriptorInvalid(`more than ${maxSourceLength} characters in all files`);
    if (this.files.size + this.#open.length > maxFiles) throw descriptorInvalid(`more than ${maxFiles} files`);
    const { file, tokens } = parseProtoFile(path, source, maxTokens - this.#tokens);
    this.#tokens += tokens;
    const seen = new Set<string>();
    for (const { path: imported } of file.imports) {
      if (seen.has(imported)) throw descriptorInvalid(`${path}: the import "${imported}" comes twice`);
      seen.add(imported);
      this.load(imported, path);
    }
    this.#open.pop();
    this.files.set(path, file);
  }

  #source(path: string): string | undefined {
    const uploaded = Object.hasOwn(this.#sources, path) ? this.#sources[path] : undefined;
    return WELL_KNOWN_FILES.get(path) ?? uploaded;
  }
}

/** Longest chain of imports. */
const MAX_CHAIN = 256;

function visibleTo(file: ProtoFile, files: ReadonlyMap<string, ProtoFile>): ReadonlySet<string> {
  const visible = new Set([file.path]);
  const queue = file.imports.filter(({ kind }) => kind !== "option").map(({ path }) => path);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (visible.has(path)) continue;
    visible.add(path);
    for (const further of files.get(path)?.imports ?? []) if (further.kind === "public") queue.push(further.path);
  }
  return visible;
}
