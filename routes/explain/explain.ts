import type { Static } from "@sinclair/typebox";
import { parseOffset } from "../../src/core/offset.ts";
import type { App, RouteContext } from "../app.ts";
import { callerHas } from "../edge/caller.ts";
import { malformed } from "../edge/refusals.ts";
import { timeText } from "../schema/values.ts";
import { partitionOf } from "../sources/partition-number.ts";
import { type Explanation, explainSchema } from "./schema.ts";
import { explainedBody } from "./view.ts";

/** Longest key that is looked for: the longest that is any document's id. */
const KEY_BYTES_MAX = 512;

type Query = Readonly<Partial<Record<"partition" | "offset" | "key" | "keyBase64" | "last", string>>>;

/** What a query asks for: one record, or a key's last ones. */
type Asked =
  | { readonly what: "record"; readonly partition: string; readonly offset: number }
  | { readonly what: "key"; readonly key: Uint8Array; readonly last: number };

/** `GET /v1/sources/{source}/explain` */
export function explain(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/explain",
    { schema: explainSchema, config: { access: "viewer" } },
    async (request): Promise<Static<typeof Explanation>> => {
      const { source } = request.params;
      const asked = readQuery(request.query);
      const shown = callerHas(request, "operator");
      const content = shown ? "shown" : "hidden";
      if (asked.what === "record") {
        const { partition } = partitionOf({ source, partition: asked.partition });
        const view = await controlPlane.explain.record(source, partition, asked.offset);
        return { records: [explainedBody(view, shown)], content, asOf: timeText(view.asOf) };
      }
      const { records, ended, looked, asOf } = await controlPlane.explain.key(source, asked.key, asked.last);
      return {
        records: records.map((view) => explainedBody(view, shown)),
        search: {
          ended,
          looked: looked.map(({ partition, from, to, whole }) => ({
            partition,
            from: String(from),
            to: String(to),
            whole,
          })),
        },
        content,
        asOf: timeText(asOf),
      };
    },
  );
}

/** @throws StreamsError REQUEST_MALFORMED for anything but one record or one key */
function readQuery({ partition, offset, key, keyBase64, last }: Query): Asked {
  if (key !== undefined && keyBase64 !== undefined)
    throw malformed("query", "/keyBase64", "send key or keyBase64, not both");
  const given = key === undefined ? readBase64(keyBase64) : Buffer.from(key, "utf8");
  if (given !== undefined) {
    if (partition !== undefined || offset !== undefined)
      throw malformed("query", "", "send partition and offset, or a key, not both");
    if (given.length > KEY_BYTES_MAX) throw malformed("query", "/key", `it has more than ${KEY_BYTES_MAX} bytes`);
    return { what: "key", key: given, last: Number(last ?? "1") };
  }
  if (last !== undefined) throw malformed("query", "/last", "it belongs to a key");
  if (partition === undefined || offset === undefined)
    throw malformed("query", "", "partition and offset are needed, or key, or keyBase64");
  const number = parseOffset(offset);
  if (number === undefined) throw malformed("query", "/offset", "no log has such an offset");
  return { what: "record", partition, offset: number };
}

function readBase64(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  return Buffer.from(text.replaceAll("-", "+").replaceAll("_", "/"), "base64");
}
