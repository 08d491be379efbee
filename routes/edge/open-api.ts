import swagger from "@fastify/swagger";
import { type TSchema, Type } from "@sinclair/typebox";
import type { App } from "../app.ts";
import { Closed } from "../schema/closed.ts";
import { ENTITY_TAG_PATTERN } from "./entity-tag.ts";
import { Problem } from "../schema/problem.ts";

const DESCRIPTION = `
The control plane of ysearch-streams, the one ingestion path of ysearch.

- Offsets are decimal strings; times are RFC 3339 in UTC with milliseconds; ranges are \`[from, to)\`.
- Nothing is coerced and nothing is ignored: an unknown field anywhere, a repeated field and a repeated key are 400.
- A failure is a problem (RFC 9457). Its \`code\` is stable; \`openapi/ERRORS.md\` lists all codes with their remedies.
- What is not known is said so: \`{"known": false, "cause": …}\`.
- A path that exists answers another method with 405 and \`Allow\`; HEAD answers as GET does.
`.trim();

const TAGS = [
  { name: "health", description: "Whether the process lives and can serve the API." },
  { name: "service", description: "The service itself: its index, contract and metrics." },
  { name: "sources", description: "The feeds: what they should do, what they do, and what is in force." },
  { name: "descriptors", description: "What records are decoded by: versions of .proto files by subject." },
  { name: "gaps", description: "What was passed over: lost, skipped, dead-lettered, given up." },
  { name: "audit", description: "Who did what, when and why." },
  { name: "lag", description: "How far behind each partition is." },
  { name: "barriers", description: "Whether everything up to a moment is applied." },
  { name: "jobs", description: "Work beside live reading: replays, recounts, redrives, trials." },
  { name: "explain", description: "What became of a record." },
  { name: "documents", description: "What is stored, with the record it came from." },
  { name: "counters", description: "What was counted: traffic of articles, ad actions of campaigns." },
  { name: "kv", description: "The owners of the KV plane." },
];

/**
 * Headers of an operation that demands one of the two, for the document alone: a schema that validates would have to be
 * open, because clients send headers of their own.
 */
const PRECONDITIONS = Closed({
  "If-Match": Type.Optional(
    Type.String({
      pattern: ENTITY_TAG_PATTERN,
      description: "The ETag that was read, to change what is there. One, strong: `*` and lists are refused.",
      examples: ['"7"'],
    }),
  ),
  "If-None-Match": Type.Optional(
    Type.Literal("*", { description: "To define what is not there yet. Exactly one of the two headers is needed." }),
  ),
});

const IF_MATCH = Closed({
  "If-Match": Type.String({
    pattern: ENTITY_TAG_PATTERN,
    description: "The ETag that was read. One, strong: `*` and lists are refused.",
    examples: ['"7"'],
  }),
});

function withPreconditions<S extends object>(
  schema: S,
  ifMatch: boolean | "only" | undefined,
): S & { headers?: TSchema } {
  if (ifMatch === undefined || ifMatch === false) return schema;
  return { ...schema, headers: ifMatch === "only" ? IF_MATCH : PRECONDITIONS };
}

/** Registers the generator of the OpenAPI document. Before the routes: it collects them as they are registered. */
export async function addOpenApi(app: App, release: string): Promise<void> {
  app.addSchema(Problem);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "ysearch-streams",
        summary: "Control plane of the ingestion service",
        description: DESCRIPTION,
        version: release,
        license: { name: "Proprietary", identifier: "LicenseRef-ysearch" },
      },
      servers: [{ url: "http://127.0.0.1:8080", description: "The default address." }],
      tags: TAGS,
      components: {
        securitySchemes: {
          bearer: {
            type: "http",
            scheme: "bearer",
            description:
              "A token of the tokens file. Without a tokens file the service listens on loopback and needs none.",
          },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: withPreconditions(schema, route.config?.ifMatch),
      url,
    }),
    refResolver: { buildLocalReference: ({ $id }) => (typeof $id === "string" ? $id : "Unnamed") },
  });
}
