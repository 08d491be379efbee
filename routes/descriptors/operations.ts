import type { ErrorCode } from "../../src/errors.ts";
import { BODY_ERRORS, NO_QUERY, json, operation } from "../schema/operation.ts";
import {
  CandidateBody,
  CandidateQuery,
  Compatibility,
  DescriptorBody,
  PageQuery,
  ReasonQuery,
  RegisterQuery,
  SubjectParams,
  Version,
  VersionParams,
  VersionWithFiles,
  Versions,
} from "./schema.ts";

const LOCATION = { Location: { type: "string", description: "The version." } } as const;

const UPLOAD_ERRORS = [
  ...BODY_ERRORS,
  "DESCRIPTOR_INVALID",
  "DESCRIPTORS_BUSY",
  "KV_UNAVAILABLE",
  "NOT_READY",
] as const satisfies readonly ErrorCode[];

export const registerVersionSchema = {
  body: DescriptorBody,
  ...operation({
    operationId: "registerDescriptor",
    summary: "Register a descriptor version",
    description:
      "Takes .proto text or a FileDescriptorSet, imports included. Compiled and compared with all versions before it; only then stored, under the next number. Content that a version has already is that version, whatever comments, options, formatting and order of declarations: 200. (Where a source of the subject uses the Confluent framing, the order of messages is content.) Registering activates nothing. 409 tells every difference that breaks. A body of application/octet-stream or application/x-protobuf is the set itself; `message` and `reason` are then in the query. Needs the role operator.",
    tag: "descriptors",
    params: SubjectParams,
    querystring: RegisterQuery,
    response: {
      200: json("The version that has this content already.", Version, LOCATION),
      201: json("The new version.", Version, LOCATION),
    },
    errors: [...UPLOAD_ERRORS, "DESCRIPTOR_INCOMPATIBLE", "DESCRIPTORS_TOO_MANY"],
  }),
};

export const checkCompatibilitySchema = {
  body: CandidateBody,
  ...operation({
    operationId: "checkDescriptor",
    summary: "Compare a descriptor with the registered versions",
    description:
      "What registering would say, without registering: every difference to the versions before, whether it breaks or not. Needs the role viewer.",
    tag: "descriptors",
    params: SubjectParams,
    querystring: CandidateQuery,
    response: { 200: json("The differences.", Compatibility) },
    errors: UPLOAD_ERRORS,
  }),
};

export const listVersionsSchema = operation({
  operationId: "listDescriptors",
  summary: "Versions of a subject",
  description: "All versions with who registered them and when, the newest first, at most 50 in one answer.",
  tag: "descriptors",
  params: SubjectParams,
  querystring: PageQuery,
  response: { 200: json("The versions.", Versions) },
  errors: ["DESCRIPTOR_NOT_FOUND", "CURSOR_UNKNOWN", "KV_UNAVAILABLE"],
});

export const getVersionSchema = operation({
  operationId: "getDescriptor",
  summary: "One version with its text",
  description:
    "Source text, message, digest, who and when. Of a FileDescriptorSet the text is what its files say; of a removed version there is none.",
  tag: "descriptors",
  params: VersionParams,
  querystring: NO_QUERY,
  response: { 200: json("The version.", VersionWithFiles) },
  errors: ["DESCRIPTOR_NOT_FOUND", "KV_UNAVAILABLE"],
});

export const removeVersionSchema = operation({
  operationId: "removeDescriptor",
  summary: "Remove a version",
  description:
    "Removes the text; the number stays taken. Refused with 409, naming where, while a source decodes by it, is about to, or the ledger says so of offsets that the log still holds or may hold. Stored bodies in original bytes keep the version's number: whoever reads them needs the text. Needs the role admin.",
  tag: "descriptors",
  params: VersionParams,
  querystring: ReasonQuery,
  response: { 200: json("The version as it is now.", Version) },
  errors: ["DESCRIPTOR_NOT_FOUND", "DESCRIPTOR_IN_USE", "KV_UNAVAILABLE", "NOT_READY", "ORIGIN_REFUSED"],
});
