import type { FastifyReply } from "fastify";
import type { ControlPlane } from "../../src/ports/control-plane.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import type { Target } from "../../src/ports/operators.ts";
import { entityTag } from "../edge/entity-tag.ts";

/**
 * Adds the ETag that covers what operators change of the target. Status is shown also while the store is away: then there
 * is no ETag, and nothing could be changed with one.
 */
export async function setOperatorTag(reply: FastifyReply, controlPlane: ControlPlane, target: Target): Promise<void> {
  try {
    reply.header("etag", entityTag(await controlPlane.resumptions.etag(target)));
  } catch (error) {
    if (!(error instanceof KvFault)) throw error;
    reply.log.debug({ code: error.code }, "no ETag: the store did not answer");
  }
}
