import type { ServerOptions as TlsOptions } from "node:https";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { Access, Role } from "../src/access/index.ts";
import type { Clock } from "../src/ports/clock.ts";
import type { ControlPlane } from "../src/ports/control-plane.ts";
import type { Waits } from "./edge/waits.ts";
import type { HttpLimits } from "./limits.ts";

/** The Fastify instance as the routes see it: types of parameters and bodies come from their TypeBox schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The text of `GET /metrics` with its content type. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** What the HTTP edge is built from. */
export interface AppOptions {
  readonly controlPlane: ControlPlane;
  readonly access: Access;
  readonly logger: FastifyBaseLogger;
  /** Paces lines of the log that many clients could cause. */
  readonly clock: Clock;
  /** Overrides of `DEFAULT_HTTP_LIMITS`. */
  readonly limits?: Partial<HttpLimits>;
  /** Version of this build, shown at `/` and in `/openapi.json`. */
  readonly release: string;
  /** Key and certificate; without them the server speaks plain HTTP. */
  readonly https?: TlsOptions;
  /** Present when metrics are kept: adds `GET /metrics`. */
  readonly metrics?: () => Promise<MetricsText>;
}

/** What a route's handler works with. */
export interface RouteContext {
  readonly controlPlane: ControlPlane;
  readonly release: string;
  readonly metrics?: () => Promise<MetricsText>;
  /** Every operation with `?wait=` answers within it. */
  readonly waits: Waits;
}

/** Who may call an operation: anybody, or who holds at least this role. */
export type OperationAccess = "public" | Role;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Required on every route; `routes/schema/route-guard.ts` refuses one without. */
    access?: OperationAccess;
    /** Whether the operation demands If-Match or If-None-Match, or If-Match `only`. For the contract: the handler reads it with `readPrecondition` or `readIfMatch`. */
    ifMatch?: boolean | "only";
    /** Whether a body may also be bytes: application/octet-stream or application/x-protobuf. They arrive as `{ set }`, in base64. */
    binaryBody?: boolean;
  }
  interface FastifyRequest {
    /** Name of the token that the request came with; undefined without one. */
    caller: string | undefined;
    /** Role of that token; undefined where there are no tokens, and everybody may do everything. */
    callerRole: Role | undefined;
  }
}
