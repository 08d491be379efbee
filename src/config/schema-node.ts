/** What the reader uses of a TypeBox schema. */
export interface SchemaNode {
  readonly type?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly SchemaNode[];
  /** Key of a union's members that tells which one is meant. */
  readonly discriminator?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly unit?: "bytes" | "ms" | "path" | "start" | "mapping";
  /** What to write. */
  readonly right?: string;
  /** What the default is made of, where it is not a constant. */
  readonly computed?: string;
  readonly secret?: boolean;
  readonly description?: string;
}

/** A leaf of the file after substitution. */
export interface Leaf {
  readonly value: unknown;
  readonly variables: readonly string[];
}
