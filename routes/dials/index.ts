import type { App, RouteContext } from "../app.ts";
import { documentText } from "../documents/view.ts";
import { Document } from "../documents/schema.ts";
import { Closed } from "../schema/closed.ts";
import { assertEntity, EntityId, NamespaceQuery } from "../schema/counters.ts";
import { json, operation } from "../schema/operation.ts";

const getDialSchema = operation({
  operationId: "getDial",
  summary: "A dial",
  description: "The reach target that was stored last under this id, and the record that it came from.",
  tag: "documents",
  params: Closed({ id: EntityId("dial") }),
  querystring: Closed({ namespace: NamespaceQuery }),
  response: { 200: json("The dial.", Document) },
  errors: [
    "NAMESPACE_UNKNOWN",
    "NAMESPACE_NEEDED",
    "DOCUMENT_UNKNOWN",
    "DOCUMENT_DELETED",
    "KV_UNAVAILABLE",
    "NOT_READY",
  ],
});

/** Registers `/v1/dials`. */
export function registerDials(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/dials/:id",
    { schema: getDialSchema, config: { access: "viewer" } },
    async ({ params: { id }, query }, reply) => {
      assertEntity(id, "path", "/id");
      const dial = await controlPlane.dials.readDial(query.namespace, id);
      return reply.type("application/json; charset=utf-8").send(documentText(dial));
    },
  );
}
