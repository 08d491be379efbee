import type { Static } from "@sinclair/typebox";
import type { OwnerStatus } from "../../src/ports/kv-plane.ts";
import type { App, RouteContext } from "../app.ts";
import { defined } from "../schema/closed.ts";
import { timeText } from "../schema/values.ts";
import { type Owner, type Owners, ownersSchema } from "./schema.ts";

/** `GET /v1/kv/owners` */
export function listOwners(app: App, { controlPlane }: RouteContext): void {
  app.get("/v1/kv/owners", { schema: ownersSchema, config: { access: "viewer" } }, (): Static<typeof Owners> => {
    const { writeAcks, readOwners } = controlPlane.owners;
    return { writeAcks, readOwners, owners: controlPlane.owners.owners().map(ownerBody) };
  });
}

/** An owner as it is answered. */
export function ownerBody(status: OwnerStatus): Static<typeof Owner> {
  const { owner, state, reason, since, incarnation, pendingBytes, place, storedBytes, merge, compared } = status;
  // Of the data that is gone: nobody should read it as what the empty directory holds.
  const gone = state === "lost";
  return defined({
    owner,
    state,
    reason: reason === undefined ? undefined : { code: reason.code, text: reason.text },
    since: timeText(since),
    incarnation,
    pendingBytes,
    place,
    storedBytes: gone ? undefined : storedBytes,
    merge,
    compared: compared === undefined || gone ? undefined : { at: timeText(compared.at), missed: compared.missed },
  });
}
