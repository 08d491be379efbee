import type { Static } from "@sinclair/typebox";
import type { App, RouteContext } from "../app.ts";
import { type UnknownFields, getUnknownFieldsSchema } from "./decoding-schema.ts";

/** `GET /v1/sources/{source}/unknown-fields` */
export function getUnknownFields(app: App, { controlPlane }: RouteContext): void {
  app.get(
    "/v1/sources/:source/unknown-fields",
    { schema: getUnknownFieldsSchema, config: { access: "viewer" } },
    ({ params }): Static<typeof UnknownFields> => {
      const revisions = controlPlane.descriptors.unknownFields(params.source);
      return {
        source: params.source,
        revisions: revisions.map((entry) => ({ ...entry, fields: entry.fields.map((field) => ({ ...field })) })),
      };
    },
  );
}
