import type { FastifyReply, FastifyRequest } from "fastify";
import { parseOffset } from "../../src/core/offset.ts";
import type { JobKind } from "../../src/core/job/job.ts";
import type { JobCommands } from "../../src/ports/jobs.ts";
import type { App, RouteContext } from "../app.ts";
import { callerName } from "../edge/caller.ts";
import { malformed } from "../edge/refusals.ts";
import { refuseUnlessServing } from "../edge/serving.ts";
import { defined } from "../schema/closed.ts";
import type { jobSchemas } from "./schema.ts";
import { jobBody, previewBody } from "./view.ts";

/** Where jobs of one kind are, and by which schemas. */
export interface JobPlace {
  readonly kind: JobKind;
  /** `/v1/replays` */
  readonly path: string;
  readonly schemas: Pick<ReturnType<typeof jobSchemas>, "get" | "list" | "cancel">;
}

/** Registers what all kinds of jobs share: `GET` of one and of all, and `cancel`. */
export function registerJobKind(app: App, context: RouteContext, { kind, path, schemas }: JobPlace): void {
  const { controlPlane, waits } = context;
  app.get(path, { schema: schemas.list, config: { access: "viewer" } }, async ({ query }) => {
    refuseUnlessServing(controlPlane.health);
    return { jobs: (await controlPlane.jobs.list(kind, query.source)).map(jobBody) };
  });
  app.get(`${path}/:id`, { schema: schemas.get, config: { access: "viewer" } }, async ({ params, query }, reply) =>
    waits.holding(query.wait, reply, async (wait) => jobBody(await controlPlane.jobs.get(kind, params.id, wait))),
  );
  app.post(`${path}/:id/cancel`, { schema: schemas.cancel, config: { access: "operator" } }, async (request, reply) => {
    refuseUnlessServing(controlPlane.health);
    const { params, body } = request;
    reply.code(202);
    return jobBody(await controlPlane.jobs.cancel(kind, params.id, callerName(request), body.reason));
  });
}

/** What a submission says, whatever its kind. */
export interface Submission {
  readonly source: string;
  readonly reason: string;
  readonly dryRun?: boolean;
}

/** Submits a job, or says what it would do. */
export async function submitJob(
  jobs: JobCommands,
  place: Pick<JobPlace, "kind" | "path">,
  { source, reason, dryRun }: Submission,
  wanted: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { kind, path } = place;
  if (dryRun === true) return previewBody(source, await jobs.preview(kind, source, wanted));
  const order = defined({ actor: callerName(request), reason, key: idempotencyKey(request) });
  const { job, known } = await jobs.submit(kind, source, wanted, order);
  reply.code(known ? 200 : 202).header("location", `${path}/${job.id}`);
  return jobBody(job);
}

/** @throws StreamsError REQUEST_MALFORMED for a key that is not visible text of at most 200 characters */
function idempotencyKey({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw malformed("header", "/idempotency-key", "it is not 1 to 200 visible ASCII characters");
  }
  return key;
}

/** Ranges as they were spelt. */
interface RangeText {
  readonly partition: number;
  readonly from?: string;
  readonly to?: string;
}

/** Reads ranges of a body. @throws StreamsError REQUEST_MALFORMED */
export function readRanges(ranges: readonly RangeText[] | undefined) {
  return ranges?.map(({ partition, from, to }, index) =>
    defined({
      partition,
      from: readOffset(from, `/ranges/${index}/from`),
      to: readOffset(to, `/ranges/${index}/to`),
    }),
  );
}

/** Reads an offset of a body. @throws StreamsError REQUEST_MALFORMED */
export function readOffset(text: string | undefined, pointer: string): number | undefined {
  if (text === undefined) return undefined;
  const offset = parseOffset(text);
  if (offset === undefined) throw malformed("body", pointer, "no log has such an offset");
  return offset;
}
