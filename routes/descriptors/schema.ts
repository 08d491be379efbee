import { Type } from "@sinclair/typebox";
import { Difference } from "../schema/difference.ts";
import { Closed } from "../schema/closed.ts";
import { CursorQuery, Next, Reason } from "../schema/operator-values.ts";
import { Count, Text, Time } from "../schema/values.ts";

/** Files of one descriptor; with all that is said in one body. */
const FILES_MAX = 1_000;

/** Name of a message. */
export const MessageName = Type.String({
  pattern: "^[A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*)*$",
  maxLength: 500,
  description:
    "Fully qualified message type, without a leading dot. Left out: that of the version before, or the only one.",
});

/** `{subject}` as it is spelt. */
export const Subject = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$",
  description: "Subject in the descriptor catalog.",
  examples: ["ysearch.article"],
});

/** `{subject}` */
export const SubjectParams = Closed({ subject: Subject });

/** `{subject}` and `{version}`: text, since nothing in a path is coerced. */
export const VersionParams = Closed({
  subject: Subject,
  version: Type.String({ pattern: "^[1-9][0-9]{0,6}$", description: "Number of the version.", examples: ["1"] }),
});

/** .proto text by import path. */
export const Files = Type.Unsafe<Readonly<Record<string, string>>>({
  type: "object",
  description: "Text of each .proto file by its import path, imports included. Well-known types are known.",
  propertyNames: { type: "string", pattern: "^[^\\u0000-\\u001f\\u007f]{1,512}$" },
  additionalProperties: { type: "string" },
  minProperties: 1,
  maxProperties: FILES_MAX,
});

/** A descriptor set in a JSON body. */
export const SetBase64 = Type.String({
  minLength: 1,
  pattern: "^[A-Za-z0-9+/_-]*={0,2}$",
  description: "A FileDescriptorSet (google/protobuf/descriptor.proto) with its imports, in base64 or base64url.",
});

const message = Type.Optional(MessageName);
const reason = Type.Optional(Reason);

/** What is registered: text, or a descriptor set. */
export const DescriptorBody = Type.Union(
  [Closed({ files: Files, message, reason }), Closed({ set: SetBase64, message, reason })],
  { description: "Either `files` or `set`. A set may also be the body itself, as application/octet-stream." },
);

/** What is only compared. */
export const CandidateBody = Type.Union([Closed({ files: Files, message }), Closed({ set: SetBase64, message })], {
  description: "Either `files` or `set`. A set may also be the body itself, as application/octet-stream.",
});

/** Beside a body that is the set itself. */
export const RegisterQuery = Closed({ message, reason });
export const CandidateQuery = Closed({ message });
export const PageQuery = Closed({ cursor: CursorQuery });
export const ReasonQuery = Closed({ reason });

const version = {
  subject: Text("Subject in the descriptor catalog."),
  version: Type.Integer({ minimum: 1, maximum: 9_999_999 }),
  message: Text("Message that a source decodes unless it names another."),
  digest: Type.Optional(
    Text("Hex of SHA-256 of the content: the same whatever comments, options, formatting and order of declarations."),
  ),
  actor: Type.Optional(Text("Name of the token that registered it; absent for what ships with the build.")),
  registeredAt: Type.Optional(Time),
  removed: Type.Optional(
    Closed(
      { actor: Text("Name of the token."), reason: Text("Why."), at: Time },
      { description: "The text is gone; the number stays taken." },
    ),
  ),
};

export const Version = Closed(version);

export const VersionWithFiles = Closed({ ...version, files: Files });

export const Versions = Closed({ versions: Type.Array(Version), next: Next });

export const Compatibility = Closed({
  compatible: Type.Boolean({ description: "Whether it can be registered." }),
  message: version.message,
  digest: Text("Of the content, as a version would have it."),
  sameAs: Type.Optional(Type.Integer({ description: "The version that has this content already.", minimum: 1 })),
  differences: Type.Array(Difference, { description: "To all versions before, what breaks first; at most a hundred." }),
  total: Count("How many differences there are."),
});
