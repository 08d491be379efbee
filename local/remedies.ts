/** An operation that remedies name in words, and the path that it has in the contract once it is built. */
export interface NamedOperation {
  readonly words: RegExp;
  readonly what: string;
  readonly path: string;
}

const NAMED_OPERATIONS: readonly NamedOperation[] = [
  {
    words: /\bresume\b/i,
    what: "resume a partition",
    path: "/v1/sources/{source}/partitions/{partition}/resume",
  },
  { words: /\btopic epoch\b/i, what: "open a topic epoch", path: "/v1/sources/{source}/epochs" },
  { words: /\bregister\b/i, what: "register a descriptor", path: "/v1/descriptors/{subject}/versions" },
];

/** Operations that an OpenAPI document does not have although remedies may name them. */
export function operationsNotBuilt(paths: ReadonlySet<string>): readonly NamedOperation[] {
  return NAMED_OPERATIONS.filter(({ path }) => !paths.has(path));
}

/** The addresses that a text names, as `GET /v1/lag`; without a method as `/openapi.json`. */
export function addressesIn(text: string): readonly string[] {
  return [
    ...text.matchAll(/(?:\b(?:GET|PUT|POST|DELETE) )?(?<![\w<.])\/(?:v1\/[\w{}/-]+|[a-z]+(?:\.json)?)\b\}?/g),
  ].map(([address]) => address);
}

/** Paths of an OpenAPI document. @throws Error when it is none */
export function pathsOf(openApi: string): ReadonlySet<string> {
  const document: unknown = JSON.parse(openApi);
  const paths: unknown = typeof document === "object" && document !== null ? Reflect.get(document, "paths") : undefined;
  if (typeof paths !== "object" || paths === null) throw new Error("not an OpenAPI document");
  return new Set(Object.keys(paths));
}
