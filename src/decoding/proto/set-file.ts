import descriptor from "protobufjs/ext/descriptor.js";
import { descriptorInvalid } from "./invalid.ts";
import type { ProtoFile, ProtoImport, ProtoMethod, ProtoService } from "./model.ts";
import { within } from "./parse-fields.ts";
import { declarationsOf } from "./set-messages.ts";
import { checkedPath, nameOf, nodesOf, numberOf, numbersOf, textOf, textsOf } from "./set-node.ts";
import type { SetScope } from "./set-node.ts";
import { optionsOf } from "./set-options.ts";
import type { SetNode } from "./set-options.ts";

/** Numbers of `Edition` in google/protobuf/descriptor.proto, and what a file says for them. */
const EDITIONS: ReadonlyMap<number, string> = new Map([
  [998, "proto2"],
  [999, "proto3"],
  [1000, "2023"],
  [1001, "2024"],
]);

/** Whatever protoc takes as an import path, without control characters. */
const PATH = /^[^\p{Cc}\p{Cs}]{1,512}$/u;

/**
 * Turns a FileDescriptorProto, as protobufjs decodes it, into what its .proto file would say.
 * @throws StreamsError `DESCRIPTOR_INVALID`
 */
export function fileOf(node: SetNode): ProtoFile {
  const path = textOf(node, "name");
  if (!PATH.test(path) || path === "__proto__") throw descriptorInvalid("a file of the set has no usable name");
  const declared = textOf(node, "package");
  const scope = { file: path, level: levelOf(node, path), name: declared, depth: 0 };
  return {
    path,
    level: scope.level,
    package: declared === "" ? "" : checkedPath(declared, path),
    imports: importsOf(node),
    options: optionsOf(descriptor.FileOptions, node["options"], path),
    ...declarationsOf(node, scope, []),
    services: nodesOf(node, "service").map((service) => serviceOf(service, scope)),
  };
}

/** `syntax` is "editions" where `edition` decides; a file without both is proto2. */
function levelOf(node: SetNode, path: string): string {
  const syntax = textOf(node, "syntax");
  const edition = numberOf(node, "edition");
  if (edition !== undefined && edition !== 0) {
    const level = EDITIONS.get(edition);
    if (level === undefined) throw descriptorInvalid(`${path}: edition number ${edition} is not supported`);
    return level;
  }
  if (syntax === "") return "proto2";
  if (syntax !== "proto2" && syntax !== "proto3") {
    throw descriptorInvalid(`${path}: the syntax ${JSON.stringify(syntax.slice(0, 32))} is not supported`);
  }
  return syntax;
}

function importsOf(node: SetNode): ProtoImport[] {
  const open = new Set(numbersOf(node, "publicDependency"));
  const weak = new Set(numbersOf(node, "weakDependency"));
  const kindOf = (index: number) => (open.has(index) ? "public" : weak.has(index) ? "weak" : "plain");
  const plain = textsOf(node, "dependency").map((path, index): ProtoImport => ({ path, kind: kindOf(index) }));
  return [...plain, ...textsOf(node, "optionDependency").map((path): ProtoImport => ({ path, kind: "option" }))];
}

function serviceOf(node: SetNode, scope: SetScope): ProtoService {
  const { file } = scope;
  const name = nameOf(node, scope);
  const fullName = within(scope.name, name);
  const place = `${file}: ${fullName}`;
  const options = optionsOf(descriptor.ServiceOptions, node["options"], place);
  const inner = { ...scope, name: fullName };
  const methods = nodesOf(node, "method").map((method): ProtoMethod => {
    const own = nameOf(method, inner);
    return {
      file,
      fullName: within(fullName, own),
      name: own,
      options: optionsOf(descriptor.MethodOptions, method["options"], place),
      types: [textOf(method, "inputType"), textOf(method, "outputType")].map((type) => checkedPath(type, place)),
    };
  });
  return { file, fullName, name, options, methods };
}
