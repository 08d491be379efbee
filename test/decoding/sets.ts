import descriptor from "protobufjs/ext/descriptor.js";

/** Encodes a FileDescriptorSet from plain objects, as protoc would write it. */
export function setOf(...files: readonly object[]): Uint8Array {
  return descriptor.FileDescriptorSet.encode(descriptor.FileDescriptorSet.fromObject({ file: files })).finish();
}
