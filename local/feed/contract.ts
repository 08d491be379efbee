import protobuf from "protobufjs";
import { CONTRACT_FILES } from "../../src/descriptors/builtin.generated.ts";

const PACKAGE = "ysearch.streams.v1";
const TIMESTAMP = "google/protobuf/timestamp.proto";
const root = new protobuf.Root();
const read = new Set<string>();
root.addJSON(protobuf.common.get(TIMESTAMP)?.nested ?? {});

/** A message of the production contract, as producers encode it: `article.proto`, `Article`. */
export function contractMessage(file: string, name: string): protobuf.Type {
  const text = CONTRACT_FILES[`${PACKAGE.replaceAll(".", "/")}/${file}`];
  if (text === undefined) throw new Error(`the contract has no ${file}`);
  if (!read.has(file)) protobuf.parse(text, root, { keepCase: false });
  read.add(file);
  return root.lookupType(`${PACKAGE}.${name}`);
}

/** A google.protobuf.Timestamp of whole seconds. */
export function seconds(ms: number): { readonly seconds: number } {
  return { seconds: Math.floor(ms / 1_000) };
}

/** Encodes `said` as a producer does that was built from this text of a file: its message `name`. */
export function encodedBy(text: string, name: string, said: Readonly<Record<string, unknown>>): Uint8Array {
  const own = new protobuf.Root();
  own.addJSON(protobuf.common.get(TIMESTAMP)?.nested ?? {});
  const message = protobuf.parse(text, own).root.lookupType(name);
  return message.encode(message.fromObject(said)).finish();
}
