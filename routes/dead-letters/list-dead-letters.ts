import type { Static } from "@sinclair/typebox";
import { parseOffset, type Offset } from "../../src/core/offset.ts";
import { StreamsError } from "../../src/errors.ts";
import type { LetterQuery } from "../../src/ports/letters.ts";
import type { App, RouteContext } from "../app.ts";
import { callerHas } from "../edge/caller.ts";
import { malformed } from "../edge/refusals.ts";
import { defined } from "../schema/closed.ts";
import { timeText } from "../schema/values.ts";
import { type Letters, listDeadLettersSchema } from "./schema.ts";
import { letterBody } from "./view.ts";

type Query = Readonly<
  Partial<
    Record<"code" | "revision" | "descriptorVersion" | "partition" | "from" | "to" | "raw" | "cursor" | "limit", string>
  >
>;

/** `GET /v1/sources/{source}/dead-letters` */
export function listDeadLetters(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/dead-letters",
    { schema: listDeadLettersSchema, config: { access: "viewer" } },
    async (request): Promise<Static<typeof Letters>> => {
      const query = readQuery(request.query);
      const shown = callerHas(request, "operator");
      if (query.raw === true && !shown)
        throw new StreamsError("ROLE_INSUFFICIENT", "records byte for byte need the role operator");
      const page = await controlPlane.letters.list(request.params.source, query);
      const { topic, letters, looked, origins, next, asOf } = page;
      return defined({
        topic,
        letters: letters.map((view) => letterBody(view, { key: shown, raw: query.raw === true })),
        looked: { ...looked },
        origins,
        content: shown ? ("shown" as const) : ("hidden" as const),
        next,
        asOf: timeText(asOf),
      });
    },
  );
}

/** @throws StreamsError REQUEST_MALFORMED */
function readQuery({ code, revision, descriptorVersion, partition, from, to, raw, cursor, limit }: Query): LetterQuery {
  const range = { from: readOffset(from, "/from"), to: readOffset(to, "/to") };
  if (partition === undefined && (from !== undefined || to !== undefined))
    throw malformed("query", "", "from and to are offsets of a partition: send it, too");
  return defined({
    code,
    revision: numberOf(revision),
    descriptorVersion: numberOf(descriptorVersion),
    partition: numberOf(partition),
    ...range,
    raw: raw === undefined ? undefined : raw === "true",
    cursor,
    limit: numberOf(limit),
  });
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function readOffset(text: string | undefined, pointer: string): Offset | undefined {
  if (text === undefined) return undefined;
  const offset = parseOffset(text);
  if (offset === undefined) throw malformed("query", pointer, "no log has such an offset");
  return offset;
}
