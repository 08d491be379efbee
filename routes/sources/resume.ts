import type { Static } from "@sinclair/typebox";
import { parseOffset } from "../../src/core/offset.ts";
import type { ResumeFrom, ResumeRequest } from "../../src/core/partition/resume.ts";
import { ERRORS } from "../../src/errors.ts";
import type { RefusedItem, ResumedView, ResumptionItem } from "../../src/ports/operators.ts";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { readIfMatch } from "../edge/entity-tag.ts";
import { boundsMember, rangeMember } from "../edge/problem-ranges.ts";
import { malformed } from "../edge/refusals.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { defined } from "../schema/closed.ts";
import { ERROR_CODES } from "../schema/problem.ts";
import { offsetText } from "../schema/values.ts";
import { resumePartitionSchema, resumeSourceSchema } from "./operator-operations.ts";
import type { ResumeBody, Resumed, Resumptions } from "./operator-schema.ts";
import { partitionOf } from "./partition-number.ts";

/** `POST /v1/sources/{source}/partitions/{partition}/resume` and `POST /v1/sources/{source}/resumptions` */
export function resume(app: App, { controlPlane }: RouteContext): void {
  const config = { access: "operator", ifMatch: "only" } as const;
  const order = (request: Parameters<typeof callerName>[0], reason: string) => ({ actor: callerName(request), reason });
  app.post(
    "/v1/sources/:source/partitions/:partition/resume",
    { schema: resumePartitionSchema, config },
    async (request): Promise<Static<typeof Resumed>> => {
      const { params, body, headers } = request;
      const ifMatch = readIfMatch(headers["if-match"]);
      const wanted = readRequest(body);
      refuseUnlessServing(controlPlane.health);
      const target = partitionOf(params);
      return resumedBody(await controlPlane.resumptions.resume(target, order(request, body.reason), wanted, ifMatch));
    },
  );
  app.post(
    "/v1/sources/:source/resumptions",
    { schema: resumeSourceSchema, config },
    async (request): Promise<Static<typeof Resumptions>> => {
      const { params, body, headers } = request;
      const ifMatch = readIfMatch(headers["if-match"]);
      const wanted = readRequest(body);
      refuseUnlessServing(controlPlane.health);
      const { source } = params;
      const items = await controlPlane.resumptions.resumeAll(source, order(request, body.reason), wanted, ifMatch);
      return { source, items: items.map(itemBody) };
    },
  );
}

function readRequest({ from, acceptLoss, allowPoison }: Static<typeof ResumeBody>): ResumeRequest {
  return defined({
    from: readPoint(from),
    acceptLoss: acceptLoss && {
      from: readOffset(acceptLoss.from, "/acceptLoss/from"),
      toMax: readOffset(acceptLoss.toMax, "/acceptLoss/toMax"),
    },
    allowPoison: allowPoison && { to: readOffset(allowPoison.to, "/allowPoison/to") },
  });
}

function readPoint(from: string): ResumeFrom {
  return from === "log-start" || from === "copy" || from === "committed" ? from : readOffset(from, "/from");
}

function readOffset(text: string, pointer: string): number {
  const offset = parseOffset(text);
  if (offset === undefined) throw malformed("body", pointer, "no log has such an offset");
  return offset;
}

function resumedBody({ partition, from, gaps, audit }: ResumedView): Static<typeof Resumed> {
  return { partition, from: offsetText(from) ?? "0", gaps: [...gaps], audit };
}

function itemBody(item: ResumptionItem): Static<typeof Resumptions>["items"][number] {
  if (item.outcome === "resumed") return { outcome: "resumed", ...resumedBody(item) };
  return { outcome: "refused", partition: item.partition, problem: problemOf(item.error) };
}

function problemOf({
  code,
  detail,
  extra,
}: RefusedItem): NonNullable<Static<typeof Resumptions>["items"][number]["problem"]> {
  const known = ERROR_CODES.find((name) => name === code) ?? "INTERNAL";
  const { remedy } = ERRORS[known];
  return defined({
    code: known,
    detail,
    remedy,
    lost: rangeMember(extra["lost"]),
    bounds: boundsMember(extra["bounds"]),
  });
}
