import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import { shown, type ConfigFault } from "./fault.ts";
import { nearest } from "./nearest.ts";
import { oneOfText, readLeaf, wantedText } from "./leaf.ts";
import type { Leaf, SchemaNode } from "./schema-node.ts";
import { substitute } from "./substitute.ts";
import type { Origin } from "./types.ts";
import type { YamlFile } from "./yaml.ts";

/**
 * Walks the file along the schema: refuses unknown keys, puts in variables and defaults, turns spellings into numbers,
 * notes where each value came from. Collects every fault instead of throwing; a leaf with a fault has its default, so that
 * what else is wrong can still be found.
 */
export class ConfigReader {
  readonly faults: ConfigFault[] = [];
  readonly provenance = new Map<string, Origin>();
  readonly #lines = new Map<string, number>();
  readonly #file: YamlFile | undefined;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(file: YamlFile | undefined, env: Readonly<Record<string, string | undefined>>) {
    this.#file = file;
    this.#env = env;
  }

  /** Notes a fault at a path, with the line on which the path stands, if it stands anywhere. */
  fault(path: string, found: string, right: string): void {
    const line = this.#lines.get(path);
    this.faults.push({ path, ...(line === undefined ? {} : { line }), found, right });
  }

  /** Whether there is a fault at exactly this path; what follows from a faulty value is not worth a fault of its own. */
  isFaulty(path: string): boolean {
    return this.faults.some((fault) => fault.path === path);
  }

  /** Reads the whole file. */
  read(schema: SchemaNode): unknown {
    return this.#value(schema, this.#file?.root, "");
  }

  #value(schema: SchemaNode, given: Node | undefined, path: string): unknown {
    const node = this.#resolve(given, path);
    if (node === "fault") return undefined;
    if (node !== undefined && isScalar(node) && node.value === null) {
      this.fault(path, "the key has no value", `write ${wantedText(schema)}, or remove the key`);
      return this.#value(schema, undefined, path);
    }
    if (schema.discriminator !== undefined) return this.#variant(schema, schema.discriminator, node, path);
    if (schema.unit === undefined && schema.properties !== undefined) return this.#object(schema, node, path);
    if (node === undefined) return this.#absent(schema, path);
    if (schema.items !== undefined) return this.#list(schema, schema.items, node, path);
    return this.#leaf(schema, node, path);
  }

  /** Follows an alias; each place that uses an anchor counts as its own text, and the schema bounds how often. */
  #resolve(node: Node | undefined, path: string): Node | undefined | "fault" {
    if (node === undefined) return undefined;
    const line = this.#file?.lineOf(node);
    if (line !== undefined && !this.#lines.has(path)) this.#lines.set(path, line);
    if (!isAlias(node)) return node;
    const target = this.#file === undefined ? undefined : node.resolve(this.#file.document);
    if (target === undefined) {
      this.fault(path, "an alias ('*…') without its anchor before it", "define the anchor first, or quote the value");
      return "fault";
    }
    return target;
  }

  #absent(schema: SchemaNode, path: string): unknown {
    if (schema.default === undefined) {
      this.fault(path, "the key is missing", `write ${wantedText(schema)}`);
      return undefined;
    }
    this.provenance.set(path, "default");
    return structuredClone(schema.default);
  }

  #object(schema: SchemaNode, node: Node | undefined, path: string): unknown {
    const properties = schema.properties ?? {};
    if (node !== undefined && !isMap(node)) {
      this.fault(path, "the value is not a block of keys", `write ${Object.keys(properties).join(", ")} below it`);
      return undefined;
    }
    const given = node === undefined ? new Map<string, Node>() : this.#entries(node, Object.keys(properties), path);
    const result: Record<string, unknown> = {};
    for (const [key, property] of Object.entries(properties)) {
      const child = given.get(key);
      if (child === undefined && schema.required?.includes(key) !== true) continue;
      const value = this.#value(property, child, path === "" ? key : `${path}.${key}`);
      if (value !== undefined) result[key] = value;
    }
    return result;
  }

  #entries(map: YAMLMap, known: readonly string[], path: string): Map<string, Node> {
    const entries = new Map<string, Node>();
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : "(a key that is not text)";
      const place = path === "" ? key : `${path}.${key}`;
      const line = isNode(pair.key) ? this.#file?.lineOf(pair.key) : undefined;
      if (line !== undefined) this.#lines.set(place, line);
      if (!known.includes(key)) {
        const near = nearest(key, known);
        const right = near === undefined ? `known here: ${known.join(", ")}` : `did you mean ${near}?`;
        this.fault(shown(place).slice(1, -1), "unknown key", right);
      } else if (isNode(pair.value)) {
        entries.set(key, pair.value);
      } else {
        this.fault(place, "the key has no value", "give it one, or remove the key");
      }
    }
    return entries;
  }

  #variant(schema: SchemaNode, key: string, node: Node | undefined, path: string): unknown {
    const variants = schema.anyOf ?? [];
    const words = variants.map((variant) => String(variant.properties?.[key]?.const));
    const first = variants[0];
    const tag = node !== undefined && isMap(node) ? node.get(key, true) : undefined;
    const word = tag === undefined ? undefined : shown(tag.value).replaceAll('"', "");
    const chosen = word === undefined ? first : variants[words.indexOf(word)];
    if (chosen !== undefined) return this.#object(chosen, node, path);
    this.#resolve(tag, `${path}.${key}`);
    this.fault(`${path}.${key}`, `the value is ${word}`, oneOfText(words, word ?? ""));
    return first === undefined ? undefined : this.#object(first, undefined, path);
  }

  #list(schema: SchemaNode, items: SchemaNode, node: Node, path: string): unknown {
    const nodes = isSeq(node) ? node.items.filter(isNode) : undefined;
    const split = nodes === undefined ? this.#splitVariable(node, path) : undefined;
    const length = nodes?.length ?? split?.length;
    if (length === undefined) {
      this.fault(path, "the value is not a list", `write ${wantedText(schema)}`);
      return undefined;
    }
    const min = schema.minItems ?? 0;
    const max = schema.maxItems ?? Infinity;
    if (length < min || length > max) {
      this.fault(path, `the list has ${length} entries`, min === max ? `write ${min}` : `write ${min} to ${max}`);
      return undefined;
    }
    this.provenance.set(path, this.provenance.get(path) ?? "file");
    const values =
      nodes === undefined
        ? split?.map((leaf, index) => this.#read(items, leaf, `${path}[${index}]`))
        : nodes.map((item, index) => this.#value(items, item, `${path}[${index}]`));
    return values?.includes(undefined) === true ? schema.default : values;
  }

  /** A list may come whole from one variable, its entries separated by commas. */
  #splitVariable(node: Node, path: string): readonly Leaf[] | undefined {
    if (!isScalar(node) || typeof node.value !== "string" || !node.value.includes("${")) return undefined;
    const leaf = this.#substituted(node.value, path);
    if (leaf === undefined || leaf.variables.length === 0) return undefined;
    return String(leaf.value)
      .split(",")
      .map((value) => ({ value: value.trim(), variables: leaf.variables }));
  }

  #leaf(schema: SchemaNode, node: Node, path: string): unknown {
    if (schema.unit === "mapping") return this.#read(schema, { value: this.#plain(node), variables: [] }, path);
    if (!isScalar(node)) {
      this.fault(path, `the value is a ${isSeq(node) ? "list" : "block"}`, `write ${wantedText(schema)}`);
      return undefined;
    }
    if (typeof node.value !== "string") {
      return this.#read(schema, { value: node.value, variables: [] }, path);
    }
    const leaf = this.#substituted(node.value, path);
    return leaf === undefined ? schema.default : this.#read(schema, leaf, path);
  }

  #read(schema: SchemaNode, leaf: Leaf, path: string): unknown {
    if (!this.provenance.has(path)) this.provenance.set(path, originOf(leaf));
    const outcome = readLeaf(schema, leaf);
    if (outcome.fault === undefined) return outcome.value;
    this.fault(path, outcome.fault.found, outcome.fault.right);
    return schema.default;
  }

  /** A block whose keys the schema does not know, as plain values. Undefined when its aliases lead nowhere or too far. */
  #plain(node: Node): unknown {
    try {
      return this.#file === undefined ? undefined : node.toJS(this.#file.document, { maxAliasCount: 100 });
    } catch (cause) {
      if (cause instanceof ReferenceError || cause instanceof RangeError) return undefined;
      throw cause;
    }
  }

  #substituted(text: string, path: string): Leaf | undefined {
    const { text: value, variables, problems } = substitute(text, this.#env);
    this.provenance.set(path, originOf({ value, variables }));
    for (const problem of problems) this.fault(path, problem.found, problem.right);
    return problems.length === 0 ? { value, variables } : undefined;
  }
}

function originOf(leaf: Leaf): Origin {
  return leaf.variables.length === 0 ? "file" : `env ${leaf.variables.join(", ")}`;
}
