import type { FastifyBaseLogger } from "fastify";
import type { Logger } from "../../src/ports/logger.ts";

/** The service's logger in the shape that Fastify asks for. Levels that the service does not have fold into its own. */
export function httpLogger(logger: Logger): FastifyBaseLogger {
  const line = (level: "debug" | "info" | "warn" | "error") => (first: unknown, text?: unknown) => {
    const fields = typeof first === "object" && first !== null ? first : {};
    const message = typeof first === "string" ? first : typeof text === "string" ? text : "";
    // Fastify says it once for each address; whoever made it listen says it once.
    const said = message.startsWith("Server listening at") ? "debug" : level;
    logger[said](fields, message);
  };
  return {
    level: "info",
    fatal: line("error"),
    error: line("error"),
    warn: line("warn"),
    info: line("info"),
    debug: line("debug"),
    trace: line("debug"),
    silent: () => {},
    child: (bindings) => httpLogger(logger.child(bindings)),
  };
}
