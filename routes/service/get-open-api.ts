import type { App } from "../app.ts";
import { openApiSchema } from "./schema.ts";

/** `GET /openapi.json`: written once, the routes do not change while the process lives. */
export function getOpenApi(app: App): void {
  let text: Buffer | undefined;
  app.get("/openapi.json", { schema: openApiSchema, config: { access: "viewer" } }, (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type("application/json; charset=utf-8").send(text);
  });
}
