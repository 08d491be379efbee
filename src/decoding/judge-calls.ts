import type {
  CompatibilityAnswer,
  CompatibilityRequest,
  DescriptorDigest,
  DescriptorUpload,
  ReadDescriptor,
} from "../ports/descriptor-checks.ts";
import type { ProtoFiles } from "../ports/decoder.ts";
import { createDescriptorChecks } from "./descriptor-checks.ts";
import { readDescriptorSet } from "./descriptor-set.ts";
import { SCHEMA_LIMITS } from "./limits.ts";
import { descriptorInvalid } from "./proto/invalid.ts";
import { buildSchema } from "./schema-build.ts";
import { digestOf } from "./schema-digest.ts";
import type { Schema } from "./schema.ts";

/** One call of the judge, as it crosses to its thread. */
export type JudgeCall =
  | {
      readonly call: "read";
      readonly upload: DescriptorUpload;
      readonly message: string | undefined;
      readonly known: string | undefined;
    }
  | { readonly call: "digest"; readonly files: ProtoFiles }
  | { readonly call: "compatibility"; readonly request: CompatibilityRequest };

/** What a call answers. */
export type JudgeAnswer =
  | { readonly answer: "read"; readonly value: ReadDescriptor }
  | { readonly answer: "digest"; readonly value: DescriptorDigest }
  | { readonly answer: "compatibility"; readonly value: CompatibilityAnswer }
  /** A StreamsError `DESCRIPTOR_INVALID`. */
  | { readonly answer: "invalid"; readonly detail: string };

const checks = createDescriptorChecks();

/** Import paths that are stored and shown: no control characters, nothing that reaches a prototype. */
const PATH = /^[^\p{Cc}\p{Cs}]{1,512}$/u;

/** Carries out one call. Pure. @throws StreamsError `DESCRIPTOR_INVALID` */
export function judge(call: JudgeCall): JudgeAnswer {
  switch (call.call) {
    case "read":
      return { answer: "read", value: read(call.upload, call.message, call.known) };
    case "digest":
      return { answer: "digest", value: checks.digest(call.files) };
    default:
      return { answer: "compatibility", value: compatibility(call.request) };
  }
}

function read(upload: DescriptorUpload, message: string | undefined, known: string | undefined): ReadDescriptor {
  const files = "set" in upload ? readDescriptorSet(upload.set) : upload.files;
  for (const path of Object.keys(files)) {
    if (!PATH.test(path) || path === "__proto__") throw descriptorInvalid("the path of a file cannot be used");
  }
  const schema = buildSchema(files);
  return { files, message: messageOf(schema, message, known), digest: digestOf(schema) };
}

function messageOf(schema: Schema, named: string | undefined, known: string | undefined): string {
  if (named !== undefined) {
    if (schema.message(named) === undefined) throw descriptorInvalid(`there is no message ${named} in the files`);
    return named;
  }
  if (known !== undefined && schema.message(known) !== undefined) return known;
  const [only] = schema.messages;
  if (only === undefined) throw descriptorInvalid("the files have no message");
  if (schema.messages.length > 1) {
    throw descriptorInvalid(`name the message that records are: the files have ${schema.messages.length}`);
  }
  return only.fullName;
}

function compatibility(request: CompatibilityRequest): CompatibilityAnswer {
  const reasons = checks.compatibility(request);
  const breaking = reasons.filter(({ breaks }) => breaks).length;
  return { reasons: reasons.slice(0, SCHEMA_LIMITS.maxReasons), total: reasons.length, breaking };
}
