import { randomUUID } from "node:crypto";
import Fastify, { LogController } from "fastify";
import type { App, AppOptions, RouteContext } from "./app.ts";
import { registerAudit } from "./audit/index.ts";
import { registerCampaigns } from "./campaigns/index.ts";
import { registerDials } from "./dials/index.ts";
import { registerTraffic } from "./traffic/index.ts";
import { registerBarriers } from "./barriers/index.ts";
import { registerDeadLetters } from "./dead-letters/index.ts";
import { registerDescriptors } from "./descriptors/index.ts";
import { registerDocuments } from "./documents/index.ts";
import { Connections } from "./edge/connections.ts";
import { replyWithProblem } from "./edge/error-reply.ts";
import { addHooks, endConnectionsOnClose } from "./edge/hooks.ts";
import { KnownPaths } from "./edge/known-paths.ts";
import { addOpenApi } from "./edge/open-api.ts";
import { queryFields } from "./edge/query-string.ts";
import { serverFactory } from "./edge/server.ts";
import { Waits } from "./edge/waits.ts";
import { registerExplain } from "./explain/index.ts";
import { registerGaps } from "./gaps/index.ts";
import { registerHealth } from "./health/index.ts";
import { registerKv } from "./kv/index.ts";
import { registerLag } from "./lag/index.ts";
import { type HttpLimits, PATH_PARAMETER_CHARACTERS, completeLimits } from "./limits.ts";
import { guardRoute } from "./schema/route-guard.ts";
import { registerRecounts } from "./recounts/index.ts";
import { registerRedrives } from "./redrives/index.ts";
import { registerReplays } from "./replays/index.ts";
import { registerTrials } from "./trials/index.ts";
import { registerService } from "./service/index.ts";
import { registerSources } from "./sources/index.ts";

export type { App, AppOptions } from "./app.ts";

/**
 * Builds the HTTP control plane, ready and not listening.
 * @throws Error when a route's contract is open or incomplete, RangeError for limits that cannot hold
 */
export async function buildApp(options: AppOptions): Promise<App> {
  const app = await buildEdge(options);
  registerRoutes(app, options);
  await app.ready();
  return app;
}

/** The app without routes: what every route is checked by and runs behind. Exported for tests of the edge itself. */
export async function buildEdge(options: AppOptions): Promise<App> {
  const limits = completeLimits(options.limits ?? {});
  const connections = new Connections(limits.connectionsMax);
  const app: App = Fastify(fastifyOptions(options, limits, connections));
  const paths = new KnownPaths();
  app.addHook("onRoute", (route) => {
    guardRoute(route);
    paths.add(route);
  });
  // JSON.stringify writes what the handler returns or fails; Fastify's own serializer would bend it to the schema.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  await addOpenApi(app, options.release);
  addHooks(app, options.access, paths, limits.requestBodyDepth);
  endConnectionsOnClose(app, connections);
  return app;
}

/** Every route, resource by resource. */
function registerRoutes(app: App, options: AppOptions): void {
  const { controlPlane, release, metrics } = options;
  const waits = new Waits(completeLimits(options.limits ?? {}).waitsMax);
  const context: RouteContext = { controlPlane, release, waits, ...(metrics === undefined ? {} : { metrics }) };
  registerHealth(app, context);
  registerService(app, context);
  registerSources(app, context);
  registerGaps(app, context);
  registerDeadLetters(app, context);
  registerAudit(app, context);
  registerLag(app, context);
  registerBarriers(app, context);
  registerExplain(app, context);
  registerReplays(app, context);
  registerRecounts(app, context);
  registerTrials(app, context);
  registerRedrives(app, context);
  registerDocuments(app, context);
  registerDials(app, context);
  registerTraffic(app, context);
  registerCampaigns(app, context);
  registerDescriptors(app, context);
  registerKv(app, context);
}

function fastifyOptions(options: AppOptions, limits: HttpLimits, connections: Connections) {
  return {
    serverFactory: serverFactory(limits, options, connections),
    loggerInstance: options.logger,
    // Fastify's own request lines would carry addresses, and with them document ids.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: limits.requestBodyBytes,
    handlerTimeout: limits.answerTimeoutMs,
    // A draining instance still answers what reaches it, and closes the connection; /readyz says that it drains.
    return503OnClosing: false,
    // Both are done by the server factory, for every server.
    clientErrorHandler: () => undefined,
    frameworkErrors: replyWithProblem,
    ajv: {
      customOptions: {
        removeAdditional: false as const,
        coerceTypes: false as const,
        useDefaults: false as const,
        allErrors: false,
        // The schema and the object of a fault, to name all of its unknown and missing fields.
        verbose: true,
        strict: true,
      },
    },
    routerOptions: {
      maxParamLength: PATH_PARAMETER_CHARACTERS,
      querystringParser: queryFields,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      caseSensitive: true,
      useSemicolonDelimiter: false,
    },
  };
}
