import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { type Index, indexSchema } from "./schema.ts";

const LINKS = [
  { href: "/livez", title: "Whether the process is alive" },
  { href: "/readyz", title: "Whether the API can be served" },
  { href: "/openapi.json", title: "The contract" },
  { href: "/v1/sources", title: "The sources" },
  { href: "/v1/sources/{source}", title: "One source" },
  { href: "/v1/sources/{source}/definition", title: "What is in force for a source" },
  { href: "/v1/sources/{source}/partitions", title: "A source's partitions" },
  { href: "/v1/sources/{source}/partitions/{partition}", title: "One partition" },
  { href: "/v1/sources/{source}/lag", title: "How far behind a source is" },
  { href: "/v1/lag", title: "How far behind everything is" },
  { href: "/v1/documents/{namespace}/{id}", title: "A stored document" },
  { href: "/v1/documents/{namespace}?keyBase64={key}", title: "A stored document by the bytes of its key" },
  { href: "/v1/kv/owners", title: "The owners of the KV plane" },
  { href: "/v1/instances", title: "Who runs" },
] as const;

/** `GET /` */
export function getIndex(app: App, { release, metrics }: RouteContext): void {
  const links = [...LINKS, ...(metrics === undefined ? [] : [{ href: "/metrics", title: "Metrics" }])];
  app.get("/", { schema: indexSchema, config: { access: "viewer" } }, (): Static<typeof Index> => ({
    service: "ysearch-streams",
    release,
    links,
  }));
}
