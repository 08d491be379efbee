import type { Access } from "../../src/access/index.ts";
import type { App } from "../app.ts";
import type { Connections } from "./connections.ts";
import { replyWithProblem } from "./error-reply.ts";
import { BINARY_TYPES, passGate } from "./gate.ts";
import { readJsonBody } from "./json-body.ts";
import type { KnownPaths } from "./known-paths.ts";

/**
 * Ends each connection when the app closes: idle ones at once, the others with the answer that is under way. Without the
 * latter, closing waits for the keep-alive time-out: (1) a request comes on a connection; (2) close begins, idle
 * connections are ended, this one is not idle; (3) the answer goes out as keep-alive; (4) nobody ends the connection.
 */
export function endConnectionsOnClose(app: App, connections: Connections): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
    connections.endIdle();
  });
  app.addHook("onSend", async (_request, reply) => {
    if (closing) reply.header("connection", "close");
  });
}

/** Puts the gate before every route, reads bodies strictly, and answers every failure as a problem. */
export function addHooks(app: App, access: Access, paths: KnownPaths, bodyDepth: number): void {
  app.decorateRequest("caller", undefined);
  app.decorateRequest("callerRole", undefined);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "x-request-id": request.id, "cache-control": "no-store", "x-content-type-options": "nosniff" });
    passGate(request, access, paths);
  });
  app.addHook("onResponse", async (request, reply) => {
    const { id, method, caller } = request;
    const note = {
      requestId: id,
      method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      caller,
      ms: reply.elapsedTime,
    };
    if (method === "GET" || method === "HEAD") request.log.debug(note, "answered");
    else request.log.info(note, "answered a request for a change");
  });
  app.setErrorHandler((error, request, reply) => replyWithProblem(error, request, reply));
  // The gate refuses unknown routes before this: nothing else may answer one.
  app.setNotFoundHandler((request) => passGate(request, access, paths));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: unknown, body: string | Buffer) => readJsonBody(Buffer.from(body), bodyDepth),
  );
  // The gate lets them pass to operations that take them; one schema then covers both forms.
  app.addContentTypeParser(
    [...BINARY_TYPES],
    { parseAs: "buffer" },
    async (_request: unknown, body: string | Buffer) => ({ set: Buffer.from(body).toString("base64") }),
  );
}
