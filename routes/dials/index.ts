import type { FastifyReply } from "fastify";
import type { App, RouteContext } from "../app.ts";
import { Document } from "../documents/schema.ts";
import { documentText } from "../documents/view.ts";
import { Closed } from "../schema/closed.ts";
import { assertEntity, EntityId, EntityKey, entityOfKey, NamespaceQuery } from "../schema/counters.ts";
import { json, NO_PARAMS, operation } from "../schema/operation.ts";

const RESPONSE = { 200: json("The dial.", Document) };
const ERRORS = [
  "NAMESPACE_UNKNOWN",
  "NAMESPACE_NEEDED",
  "DOCUMENT_UNKNOWN",
  "DOCUMENT_DELETED",
  "KV_UNAVAILABLE",
] as const;

const getDialSchema = operation({
  operationId: "getDial",
  summary: "A dial",
  description: "The reach target that was stored last under this id, and the record that it came from.",
  tag: "documents",
  params: Closed({ id: EntityId("dial") }),
  querystring: Closed({ namespace: NamespaceQuery }),
  response: RESPONSE,
  errors: ERRORS,
});

const getDialByKeySchema = operation({
  operationId: "getDialByKey",
  summary: "A dial by the bytes of its key",
  description: "As getDial, for ids that a path cannot carry.",
  tag: "documents",
  params: NO_PARAMS,
  querystring: Closed({ keyBase64: EntityKey, namespace: NamespaceQuery }),
  response: RESPONSE,
  errors: ERRORS,
});

/** Registers `/v1/dials`. */
export function registerDials(app: App, { controlPlane }: RouteContext): void {
  const answer = async (reply: FastifyReply, namespace: string | undefined, id: string) => {
    const dial = await controlPlane.dials.readDial(namespace, id);
    return reply.type("application/json; charset=utf-8").send(documentText(dial));
  };
  app.get(
    "/v1/dials/:id",
    { schema: getDialSchema, config: { access: "viewer" } },
    async ({ params: { id }, query }, reply) => {
      assertEntity(id, "path", "/id");
      return answer(reply, query.namespace, id);
    },
  );
  app.get("/v1/dials", { schema: getDialByKeySchema, config: { access: "viewer" } }, async ({ query }, reply) =>
    answer(reply, query.namespace, entityOfKey(query.keyBase64)),
  );
}
