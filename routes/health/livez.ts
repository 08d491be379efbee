import type { Static } from "@sinclair/typebox";
import type { App } from "../app.ts";
import { type Alive, livezSchema } from "./schema.ts";

/** `GET /livez` */
export function getLivez(app: App): void {
  app.get("/livez", { schema: livezSchema, config: { access: "public" } }, (): Static<typeof Alive> => ({
    status: "alive",
  }));
}
