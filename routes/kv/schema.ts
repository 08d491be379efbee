import { Type } from "@sinclair/typebox";
import { MERGE_PHASES, OWNER_STATES } from "../../src/ports/kv-plane.ts";
import { Closed, Words } from "../schema/closed.ts";
import { BODY_ERRORS, NO_PARAMS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { Count, Text, Time } from "../schema/values.ts";

export const Owner = Closed({
  owner: Text("Name of the owner."),
  state: Words(
    OWNER_STATES,
    "Only `up` counts for writes and reads. `merging`: a new life of its data that takes what the others hold. `down`: it " +
      "failed, and is looked at again by itself unless its data is damaged. `lost`: its directory is empty beside known ones.",
  ),
  reason: Type.Optional(
    Closed({ code: Text("Stable code."), text: Text("For people.") }, { description: "Why it is not up." }),
  ),
  since: Time,
  incarnation: Text("One life of the owner's data; acks belong to it."),
  pendingBytes: Count("Writes waiting for this owner, bytes."),
  place: Type.Optional(Text("Where its data lives, where the engine knows.")),
  storedBytes: Type.Optional(Count("How much it stores, bytes, where the engine knows; absent while it is lost.")),
  merge: Type.Optional(
    Closed(
      {
        phase: Words(
          MERGE_PHASES,
          "`waiting` for an owner that it needs, `copy`, then `check` that nothing is missing.",
        ),
        cells: Count("Cells gone through in this phase."),
        bytes: Count("Their bytes."),
        expectedBytes: Count("About how many bytes the others hold; 0 when not known yet."),
      },
      { description: "How far it is while it is `merging`." },
    ),
  ),
  compared: Type.Optional(
    Closed(
      { at: Time, missed: Count("Cells that it had missed, and was given.") },
      { description: "The last time that it was compared with the others, cell by cell." },
    ),
  ),
});

export const Owners = Closed({
  writeAcks: Count("Durable acks that a write needs."),
  readOwners: Count("Owners that a restoring read asks."),
  owners: Type.Array(Owner),
});

export const ownersSchema = operation({
  operationId: "listOwners",
  summary: "The owners of the KV plane",
  description: "Each owner's state, since when, and why it is not up. With fewer than `writeAcks` up, ingestion holds.",
  tag: "kv",
  params: NO_PARAMS,
  querystring: NO_QUERY,
  response: { 200: json("The owners.", Owners) },
  errors: [],
});

const OwnerParams = Closed({
  owner: Type.String({ pattern: "^[a-z0-9-]{1,40}$", description: "Name of the owner.", examples: ["b"] }),
});

export const RepairBody = Closed({
  reason: Type.String({ minLength: 1, maxLength: 500, description: "Why, for the log." }),
  acceptLoss: Type.Optional(
    Type.Boolean({
      description:
        "When a second owner is lost as well: take what the one that is up holds. Writes that only the two lost owners held are gone.",
    }),
  ),
});

export const repairOwnerSchema = {
  ...operation({
    operationId: "repairOwner",
    summary: "Make a lost or damaged owner anew",
    description:
      "For an owner that is `lost`, or `down` for good: gives it a new, empty life of its data that takes everything both " +
      "others hold while writes flow, is compared with them, and only then counts. What its directory held is set aside " +
      "until then. Answers when that has begun; `GET /v1/kv/owners` shows how far it is.",
    tag: "kv",
    params: OwnerParams,
    querystring: NO_QUERY,
    response: { 202: json("It has begun.", Owner, { location: { type: "string", description: "Where to look." } }) },
    errors: [...BODY_ERRORS, "KV_OWNER_UNKNOWN", "KV_REPAIR_REFUSED"],
  }),
  body: RepairBody,
};
