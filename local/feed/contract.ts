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
