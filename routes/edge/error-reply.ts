import type { FastifyReply, FastifyRequest } from "fastify";
import { statusOf } from "../schema/problem.ts";
import { problemReply } from "./problem-document.ts";
import { withFurtherFaults } from "./further-faults.ts";
import { malformed } from "./refusals.ts";
import { translateError } from "./translate-error.ts";

/** Answers a failure as a problem. What is our own fault is logged with its cause; what the caller did, at debug. */
export function replyWithProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The error of the request's own stream: its client went away while it sent the body. Nobody here is at fault.
  const isCutShort = error instanceof Error && request.raw.errored === error;
  const translated = isCutShort
    ? malformed("body", "", "the connection ended before the body was complete")
    : translateError(error);
  const isRefusal = error instanceof Error && "validationContext" in error && error.validationContext === "body";
  const failure = isRefusal ? withFurtherFaults(request, translated) : translated;
  const { status, headers, body } = problemReply(failure, request.id);
  const note = { requestId: request.id, method: request.method, route: request.routeOptions.url, code: failure.code };
  if (failure.code === "INTERNAL")
    request.log.error({ ...note, err: failure.cause ?? failure }, "a request failed for a fault of ours");
  else if (statusOf(failure.code) >= 500)
    request.log.warn({ ...note, err: failure.cause ?? failure }, "a request could not be answered now");
  else request.log.debug(note, "a request was refused");
  // A body that was not read would be taken for the next request.
  if (!request.raw.complete) reply.header("connection", "close");
  return reply.code(status).headers(headers).send(body);
}
