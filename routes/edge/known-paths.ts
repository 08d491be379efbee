import type { RouteOptions } from "fastify";

/** Which methods each registered path has, so that a known path with another method is 405 and not 404. */
export class KnownPaths {
  readonly #methods = new Map<string, { readonly matcher: RegExp; readonly methods: Set<string> }>();

  /** Notes a route as it is registered. */
  add(route: RouteOptions): void {
    const known = this.#methods.get(route.url) ?? { matcher: matcherOf(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) known.methods.add(method);
    this.#methods.set(route.url, known);
  }

  /** Methods of a path as it is sent (percent-encoded), sorted; empty when no route has it. */
  methodsOf(path: string): readonly string[] {
    const found = new Set<string>();
    for (const { matcher, methods } of this.#methods.values()) {
      if (matcher.test(path)) for (const method of methods) found.add(method);
    }
    return [...found].toSorted();
  }

  /** Paths and their methods, for the index and the tests. */
  list(): readonly { readonly url: string; readonly methods: readonly string[] }[] {
    return [...this.#methods].map(([url, { methods }]) => ({ url, methods: [...methods].toSorted() }));
  }
}

/** `/v1/sources/:source` matches one segment of any length for `:source`, the empty one included, as the router does. */
function matcherOf(url: string): RegExp {
  const segments = url
    .split("/")
    .map((segment) => (segment.startsWith(":") ? "[^/]*" : segment.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${segments.join("/")}$`);
}
