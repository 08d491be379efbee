import type { FastifyRequest } from "fastify";

/** Who calls, for the audit log: the name of the token, `anonymous` where no tokens are configured. */
export function callerName({ caller }: Pick<FastifyRequest, "caller">): string {
  return caller ?? "anonymous";
}
