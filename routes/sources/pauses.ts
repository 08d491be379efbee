import type { Static } from "@sinclair/typebox";
import type { PauseView, Target } from "../../src/ports/operators.ts";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { defined } from "../schema/closed.ts";
import { readTime } from "../schema/operator-values.ts";
import {
  deletePartitionPauseSchema,
  deleteSourcePauseSchema,
  putPartitionPauseSchema,
  putSourcePauseSchema,
} from "./operator-operations.ts";
import type { PauseBody, PauseState } from "./operator-schema.ts";
import { partitionOf } from "./partition-number.ts";
import { pauseBody } from "./view.ts";

/** `PUT` and `DELETE` of `/v1/sources/{source}/pause` and `/v1/sources/{source}/partitions/{partition}/pause` */
export function pauses(app: App, { controlPlane }: RouteContext): void {
  const put = async (target: Target, body: Static<typeof PauseBody>, actor: string) => {
    const untilMs = readTime(body.until, "body", "/until");
    refuseUnlessServing(controlPlane.health);
    return stateBody(await controlPlane.pauses.pause(target, { actor, reason: body.reason }, untilMs));
  };
  const end = async (target: Target, reason: string | undefined, actor: string) => {
    refuseUnlessServing(controlPlane.health);
    return stateBody(await controlPlane.pauses.unpause(target, { actor, reason: reason ?? "" }));
  };
  const config = { access: "operator" } as const;
  app.put("/v1/sources/:source/pause", { schema: putSourcePauseSchema, config }, (request) =>
    put({ source: request.params.source }, request.body, callerName(request)),
  );
  app.delete("/v1/sources/:source/pause", { schema: deleteSourcePauseSchema, config }, (request) =>
    end({ source: request.params.source }, request.query.reason, callerName(request)),
  );
  const path = "/v1/sources/:source/partitions/:partition/pause";
  app.put(path, { schema: putPartitionPauseSchema, config }, (request) =>
    put(partitionOf(request.params), request.body, callerName(request)),
  );
  app.delete(path, { schema: deletePartitionPauseSchema, config }, (request) =>
    end(partitionOf(request.params), request.query.reason, callerName(request)),
  );
}

function stateBody({ pause, audit }: PauseView): Static<typeof PauseState> {
  return defined({
    desired: pause === undefined ? ("running" as const) : ("paused" as const),
    pause: pause === undefined ? undefined : pauseBody(pause),
    audit,
  });
}
