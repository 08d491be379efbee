import { Type } from "@sinclair/typebox";
import { AnyJson, Closed, Words } from "../schema/closed.ts";
import { NO_QUERY, json, operation } from "../schema/operation.ts";
import { Provenance } from "../schema/provenance.ts";
import { KEY_BASE64_PATTERN, NAME_PATTERN, Time } from "../schema/values.ts";

const Body = Type.Union(
  [
    Closed({
      format: Type.Literal("json"),
      value: AnyJson("The stored JSON, byte for byte: read its numbers as text if their digits matter."),
    }),
    Closed({ format: Words(["protobuf", "raw"]), base64: Type.String({ description: "The stored bytes." }) }),
  ],
  { description: "The document's body." },
);

export const Document = Closed({
  namespace: Type.String(),
  id: Type.String({ description: "The record key that it was stored under." }),
  body: Body,
  provenance: Provenance,
  asOf: Time,
});

const namespace = Type.String({
  pattern: NAME_PATTERN,
  description: "Namespace that the document was written to.",
  examples: ["articles"],
});

const ERRORS = ["NAMESPACE_UNKNOWN", "DOCUMENT_UNKNOWN", "DOCUMENT_DELETED", "KV_UNAVAILABLE"] as const;

export const getDocumentSchema = operation({
  operationId: "getDocument",
  summary: "A stored document",
  description:
    "The document and the record that it came from. The id is one path segment, percent-encoded: `a%2Fb` is the document `a/b`. Ids that HTTP clients rewrite on the way (`.` and `..`) are read with `keyBase64`.",
  tag: "documents",
  params: Closed({
    namespace,
    id: Type.String({
      minLength: 1,
      maxLength: 512,
      description: "Document id: 1 to 512 bytes of UTF-8 before percent-encoding.",
      examples: ["article-17"],
    }),
  }),
  querystring: NO_QUERY,
  response: { 200: json("The document.", Document) },
  errors: ERRORS,
});

export const getDocumentByKeySchema = operation({
  operationId: "getDocumentByKey",
  summary: "A stored document by the bytes of its key",
  description:
    "As getDocument, for ids that a path cannot carry: the id's UTF-8 bytes in base64 or base64url, padding optional.",
  tag: "documents",
  params: Closed({ namespace }),
  querystring: Closed({
    keyBase64: Type.String({
      pattern: KEY_BASE64_PATTERN,
      description: "The key's bytes. In plain base64, write + as %2B.",
      examples: ["Li4"],
    }),
  }),
  response: { 200: json("The document.", Document) },
  errors: ERRORS,
});
