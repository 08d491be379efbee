import { Type } from "@sinclair/typebox";
import { OWNER_STATES } from "../../src/ports/kv-plane.ts";
import { Closed, Words } from "../schema/closed.ts";
import { NO_PARAMS, NO_QUERY, json, operation } from "../schema/operation.ts";
import { Count, Text, Time } from "../schema/values.ts";

export const Owner = Closed({
  owner: Text("Name of the owner."),
  state: Words(OWNER_STATES, "Only `up` counts for writes and reads."),
  reason: Type.Optional(
    Closed({ code: Text("Stable code."), text: Text("For people.") }, { description: "Why it is not up." }),
  ),
  since: Time,
  incarnation: Text("One life of the owner's data; acks belong to it."),
  pendingBytes: Count("Writes waiting for this owner, bytes."),
  place: Type.Optional(Text("Where its data lives, where the engine knows.")),
  storedBytes: Type.Optional(Count("How much it stores, bytes, where the engine knows.")),
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
