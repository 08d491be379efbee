import { Type } from "@sinclair/typebox";
import { Closed } from "./closed.ts";
import { Text } from "./values.ts";

/** A difference between two versions of a descriptor. */
export const Difference = Closed({
  code: Text("Stable word for what differs, such as `TYPE_CHANGED`."),
  breaks: Type.Boolean({ description: "Whether records of the earlier version would be read wrongly." }),
  type: Text("Message or enum, by its name in the earlier version."),
  number: Type.Optional(Type.Integer({ description: "Number of the field or enum value." })),
  before: Text("What it was; empty for nothing."),
  after: Text("What it is; empty for nothing."),
  text: Text("The code in words."),
  againstVersion: Type.Integer({ minimum: 1, description: "The newest earlier version that differs so." }),
});
