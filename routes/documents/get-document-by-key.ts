import { documentId } from "../../src/core/keys.ts";
import type { App, RouteContext } from "../app.ts";
import { malformed } from "../edge/refusals.ts";
import { readBase64 } from "../schema/values.ts";
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
