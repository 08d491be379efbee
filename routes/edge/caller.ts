import type { FastifyRequest } from "fastify";
import { type Role, roleCovers } from "../../src/access/index.ts";

/** Who calls, for the audit log: the name of the token, `anonymous` where no tokens are configured. */
export function callerName({ caller }: Pick<FastifyRequest, "caller">): string {
  return caller ?? "anonymous";
}

/** Whether the caller's token has at least this role; without any tokens everybody has. */
export function callerHas({ callerRole }: Pick<FastifyRequest, "callerRole">, role: Role): boolean {
  return callerRole === undefined || roleCovers(callerRole, role);
}
