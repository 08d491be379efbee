import { DOCUMENT_ID_BYTES_MAX } from "../../src/core/keys.ts";
import type { App, RouteContext } from "../app.ts";
import { malformed } from "../edge/refusals.ts";
import { getDocumentSchema } from "./schema.ts";
import { documentText } from "./view.ts";

/** `GET /v1/documents/{namespace}/{id}` */
export function getDocument(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/documents/:namespace/:id",
    { schema: getDocumentSchema, config: { access: "viewer" } },
    async ({ params }, reply) => {
      const { namespace, id } = params;
      if (Buffer.byteLength(id) > DOCUMENT_ID_BYTES_MAX)
        throw malformed("path", "/id", `it has more than ${DOCUMENT_ID_BYTES_MAX} bytes`);
      const document = await controlPlane.documents.read(namespace, id);
      return reply.type("application/json; charset=utf-8").send(documentText(document));
    },
  );
}
