import type { Static } from "@sinclair/typebox";
import { parseOffset } from "../../src/core/offset.ts";
import type { BarrierAt } from "../../src/ports/barriers.ts";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { malformed } from "../edge/refusals.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { readTime } from "../schema/operator-values.ts";
import { type BarrierBody, createBarrierSchema } from "./schema.ts";
import { barrierBody } from "./view.ts";

/** `POST /v1/sources/{source}/barriers` */
export function createBarrier(app: App, { controlPlane }: RouteContext): void {
  app.post(
    "/v1/sources/:source/barriers",
    { schema: createBarrierSchema, config: { access: "operator" } },
    async (request, reply) => {
      const { params, body } = request;
      const at = readAt(body);
      refuseUnlessServing(controlPlane.health);
      const view = await controlPlane.barriers.create(params.source, at, callerName(request));
      reply.code(201).header("location", `/v1/sources/${params.source}/barriers/${view.id}`);
      return barrierBody(view);
    },
  );
}

function readAt({ at }: Static<typeof BarrierBody>): BarrierAt {
  if (typeof at !== "string") return { at: "offsets", offsets: readOffsets(at) };
  const timestampMs = at === "now" ? undefined : readTime(at, "body", "/at");
  if (timestampMs === undefined) return { at: "now" };
  // Below zero the protocol of the broker has other meanings.
  if (timestampMs < 0) throw malformed("body", "/at", "no record is older than 1970-01-01T00:00:00Z");
  return { at: "timestamp", timestampMs };
}

function readOffsets(given: Readonly<Record<string, string>>): ReadonlyMap<number, number> {
  return new Map(
    Object.entries(given).map(([partition, text]) => {
      const offset = parseOffset(text);
      if (offset === undefined) throw malformed("body", `/at/${partition}`, "no log has such an offset");
      return [Number(partition), offset];
    }),
  );
}
