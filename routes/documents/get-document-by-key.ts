import { documentId } from "../../src/core/keys.ts";
import type { App, RouteContext } from "../app.ts";
import { malformed } from "../edge/refusals.ts";
import { getDocumentByKeySchema } from "./schema.ts";
import { documentText } from "./view.ts";

/** `GET /v1/documents/{namespace}?keyBase64=…` */
export function getDocumentByKey(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/documents/:namespace",
    { schema: getDocumentByKeySchema, config: { access: "viewer" } },
    async ({ params, query }, reply) => {
      const id = documentId(readBase64(query.keyBase64));
      if (id === undefined)
        throw malformed("query", "/keyBase64", "the key is not 1 to 512 bytes of UTF-8: no document has it");
      const document = await controlPlane.documents.read(params.namespace, id);
      return reply.type("application/json; charset=utf-8").send(documentText(document));
    },
  );
}

/** Reads base64 of either alphabet. One key has one spelling: stray bits or characters are refused, not dropped. */
function readBase64(text: string): Buffer {
  const plain = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  const bytes = Buffer.from(plain, "base64");
  const padded = text.endsWith("=");
  const written = bytes.toString("base64");
  if (written.replace(/=+$/, "") !== plain || (padded && written.length !== text.length)) {
    throw malformed("query", "/keyBase64", "it is not base64");
  }
  return bytes;
}
