/**
 * Answers protobuf's official conformance runner by our decoder: binary in; out comes JSON, or the original bytes where it
 * keeps them. Speaks on stdin and stdout: a
 * little-endian length, then a ConformanceRequest or ConformanceResponse. Argument: the folder with the runner's .proto files.
 */
import { readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import protobuf from "protobufjs";
import { createDecoderCompiler } from "../../../src/decoding/compiler.ts";
import type { DecoderSpec, RecordDecoder } from "../../../src/ports/decoder.ts";

const include = process.argv[2] ?? "";
const FILES = [
  "test_messages_proto2",
  "test_messages_proto3",
  "test_messages_edition2023",
  "test_messages_proto2_editions",
  "test_messages_proto3_editions",
].map((name) => `conformance/messages/${name}.proto`);
/** Bodies by the format that the runner asks for. */
const BODIES: ReadonlyMap<unknown, DecoderSpec["body"]> = new Map<unknown, DecoderSpec["body"]>([
  [1, "original"],
  [2, "json"],
]);
/** Faults of well-formed bytes that have no JSON form. */
const NOT_WRITABLE = new Set(["DECODE_RANGE", "DECODE_ANY", "DECODE_REQUIRED"]);

const root = new protobuf.Root();
const protocol = readFileSync(join(include, "conformance/conformance.proto"), "utf8");
protobuf.parse(protocol, root, { keepCase: true });
const Request = root.lookupType("conformance.ConformanceRequest");
const Response = root.lookupType("conformance.ConformanceResponse");

const decoders = new Map<string, RecordDecoder | undefined>();

function decoderFor(message: string, body: DecoderSpec["body"]): RecordDecoder | undefined {
  const key = `${message} ${body}`;
  if (!decoders.has(key)) decoders.set(key, compile(message, body));
  return decoders.get(key);
}

/** Each package stands in one file; a package that is in none (an unstable edition) is not supported. */
function compile(message: string, body: DecoderSpec["body"]): RecordDecoder | undefined {
  for (const path of FILES) {
    // Message sets are refused at registration; without the option the rest of the file is still told.
    const source = readFileSync(join(include, path), "utf8").replaceAll("option message_set_wire_format = true;", "");
    const declared = /^package ([\w.]+);/m.exec(source)?.[1] ?? "";
    if (message.slice(0, message.lastIndexOf(".")) !== declared) continue;
    const descriptor = { subject: "conformance", version: 1, files: { [path]: source } };
    return createDecoderCompiler().compile({
      format: "protobuf",
      framing: "none",
      descriptor: { descriptor, message },
      inputs: [],
      mapping: {},
      body,
    });
  }
  return undefined;
}

function answer(request: Record<string, unknown>): Record<string, unknown> {
  const { message_type: message, requested_output_format: output, protobuf_payload: payload } = request;
  // The first request asks for the list of failures that we expect: there are none.
  if (message === "conformance.FailureSet") return { protobuf_payload: Buffer.alloc(0) };
  const body = BODIES.get(output);
  if (!(payload instanceof Uint8Array) || body === undefined) return { skipped: "binary in, binary or JSON out" };
  const decoder = typeof message === "string" ? decoderFor(message, body) : undefined;
  if (decoder === undefined) return { skipped: "edition not supported" };
  const result = decoder.decode(payload);
  if (!("code" in result)) {
    const bytes = Buffer.from(result.body?.bytes ?? []);
    return body === "json" ? { json_payload: bytes.toString() } : { protobuf_payload: bytes };
  }
  return NOT_WRITABLE.has(result.code) ? { serialize_error: result.code } : { parse_error: result.code };
}

function read(count: number): Buffer | undefined {
  const bytes = Buffer.alloc(count);
  for (let filled = 0; filled < count;) {
    const got = readSync(0, bytes, filled, count - filled, null);
    if (got === 0) return undefined;
    filled += got;
  }
  return bytes;
}

for (let header = read(4); header !== undefined; header = read(4)) {
  const body = read(header.readUInt32LE(0));
  if (body === undefined) break;
  const request = Request.toObject(Request.decode(body), { oneofs: false });
  const reply = Buffer.from(Response.encode(Response.fromObject(answer(request))).finish());
  const length = Buffer.alloc(4);
  length.writeUInt32LE(reply.length);
  writeSync(1, Buffer.concat([length, reply]));
}
