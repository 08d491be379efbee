import { isDeepStrictEqual } from "node:util";
import protobuf from "protobufjs";
import descriptor from "protobufjs/ext/descriptor.js";
import type { ProtoFiles } from "../ports/decoder.ts";
import { SCHEMA_LIMITS } from "./limits.ts";
import { descriptorInvalid } from "./proto/invalid.ts";
import { fileOf } from "./proto/set-file.ts";
import { isNode, refuseUnknown } from "./proto/set-options.ts";
import { textOf } from "./proto/set-node.ts";
import type { SetNode } from "./proto/set-options.ts";
import { parseProtoFile } from "./proto/parse-file.ts";
import { printFile } from "./proto/print.ts";
import { WELL_KNOWN_FILES } from "./well-known.ts";

const { maxFiles, maxSetBytes, maxSourceLength, maxTokens } = SCHEMA_LIMITS;

/** What a file says. */
const SAID = ["level", "package", "imports", "options", "messages", "enums", "extensions", "services"] as const;

/**
 * Reads a FileDescriptorSet (google/protobuf/descriptor.proto) as .proto files, so that it is stored, shown and checked as
 * text is. What is written is parsed again and must say the same as the set. Well-known files of a set are passed over,
 * unread: they are known anyway, and descriptor.proto says what no other file may.
 * @throws StreamsError `DESCRIPTOR_INVALID`: no such set, a file twice, what text cannot say, what this build does not know
 */
export function readDescriptorSet(bytes: Uint8Array): ProtoFiles {
  if (bytes.length > maxSetBytes) throw descriptorInvalid(`the descriptor set is larger than ${maxSetBytes} bytes`);
  const files = new Map<string, string>();
  let length = 0;
  for (const node of decodeFiles(bytes)) {
    const file = fileOf(node);
    if (files.has(file.path)) throw descriptorInvalid(`the set has ${file.path} twice`);
    if (files.size >= maxFiles) throw descriptorInvalid(`more than ${maxFiles} files`);
    const text = printFile(file);
    length += text.length;
    if (length > maxSourceLength) throw descriptorInvalid(`more than ${maxSourceLength} characters in all files`);
    const read = parseProtoFile(file.path, text, maxTokens).file;
    if (!SAID.every((part) => isDeepStrictEqual(read[part], file[part]))) {
      throw descriptorInvalid(`${file.path}: the set says something that a .proto file cannot say`);
    }
    files.set(file.path, text);
  }
  return Object.fromEntries(files);
}

function decodeFiles(bytes: Uint8Array): readonly SetNode[] {
  let set: unknown;
  const reader = protobuf.Reader.create(bytes);
  // What is not known must be seen, to be refused.
  reader.discardUnknown = false;
  try {
    set = descriptor.FileDescriptorSet.decode(reader);
  } catch (error) {
    // Errors of protobufjs tell lengths and positions, nothing of the content.
    throw descriptorInvalid(
      `the bytes are no FileDescriptorSet: ${error instanceof Error ? error.message : "unreadable"}`,
    );
  }
  const all = isNode(set) && Array.isArray(set["file"]) ? set["file"].filter(isNode) : [];
  const files = all.filter((file) => !WELL_KNOWN_FILES.has(textOf(file, "name")));
  if (!isNode(set) || files.length === 0) {
    throw descriptorInvalid(`the descriptor set has no file${all.length === 0 ? "" : " but well-known ones"}`);
  }
  refuseUnknown(descriptor.FileDescriptorSet, { ...set, file: files }, "");
  return files;
}
