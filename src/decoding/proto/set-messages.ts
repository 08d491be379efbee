import descriptor from "protobufjs/ext/descriptor.js";
import { descriptorInvalid } from "./invalid.ts";
import type { NumberRange, ProtoEnum, ProtoField, ProtoMessage, ProtoNode } from "./model.ts";
import { within } from "./parse-fields.ts";
import { fieldOf } from "./set-fields.ts";
import type { FieldTypes } from "./set-fields.ts";
import { nameOf, nodesOf, numberOf, textsOf } from "./set-node.ts";
import type { SetScope } from "./set-node.ts";
import { isNode, optionsOf } from "./set-options.ts";
import type { SetNode } from "./set-options.ts";

/** Messages within one another; the parser of text has the same limit. */
const MAX_NESTING = 32;

type Declared = Pick<ProtoMessage, "messages" | "enums" | "extensions">;

/** The messages, enums and extensions of a file, or of a message with `fields`; without the messages that maps make. */
export function declarationsOf(node: SetNode, scope: SetScope, fields: readonly ProtoField[]): Declared {
  const member = scope.depth === 0 ? "messageType" : "nestedType";
  const nested = nodesOf(node, member).filter((message) => !isEntry(message));
  const types = typesOf(node, member, scope);
  const extensions = nodesOf(node, "extension").map((extension) => fieldOf(extension, scope, undefined, types));
  const groups = [...fields, ...extensions].filter(({ group }) => group).map(({ type }) => type);
  const messages = new Map(nested.map((message) => [nameOf(message, scope), message]));
  if (messages.size < nested.length) throw descriptorInvalid(`${scope.file}: ${scope.name}: a message comes twice`);
  // The statement of a group declares its message: they stand where the fields do, before the others.
  const first = groups.flatMap((name) => {
    const message = messages.get(name);
    messages.delete(name);
    return message === undefined ? [] : [messageOf(message, scope, true)];
  });
  if (first.length < groups.length) throw descriptorInvalid(`${scope.file}: ${scope.name}: a group has no message`);
  return {
    messages: [...first, ...[...messages.values()].map((message) => messageOf(message, scope, false))],
    enums: nodesOf(node, "enumType").map((one) => enumOf(one, scope)),
    extensions,
  };
}

/** Entries of the maps of a message, by the name of their message. */
function typesOf(node: SetNode, member: string, scope: SetScope): FieldTypes {
  const entries = nodesOf(node, member).filter(isEntry);
  return new Map(entries.map((entry) => [`.${within(scope.name, nameOf(entry, scope))}`, entry]));
}

function isEntry(message: SetNode): boolean {
  const { options } = message;
  return isNode(options) && options["mapEntry"] === true;
}

function messageOf(node: SetNode, outer: SetScope, group: boolean): ProtoMessage {
  const { file } = outer;
  const name = nameOf(node, outer);
  const fullName = within(outer.name, name);
  const scope = { ...outer, name: fullName, depth: outer.depth + 1 };
  const place = `${file}: ${fullName}`;
  if (scope.depth > MAX_NESTING) throw descriptorInvalid(`${place}: messages are nested more than ${MAX_NESTING} deep`);
  const { fields, oneofs } = membersOf(node, scope);
  return {
    file,
    fullName,
    name,
    group,
    options: optionsOf(descriptor.MessageOptions, node["options"], place),
    fields,
    oneofs,
    ...declarationsOf(node, scope, fields),
    reservedNumbers: rangesOf(node, "reservedRange", place, 1),
    reservedNames: [...textsOf(node, "reservedName")],
    extensionRanges: rangesOf(node, "extensionRange", place, 1),
  };
}

/**
 * Fields in the order in which text has them: those outside of oneofs, then oneof by oneof. The oneof that protoc makes for
 * an `optional` field of proto3 is none of the text.
 */
function membersOf(node: SetNode, scope: SetScope): { fields: ProtoField[]; oneofs: ProtoNode[] } {
  const types = typesOf(node, "nestedType", scope);
  const declared = nodesOf(node, "oneofDecl");
  const members = new Map<number, SetNode[]>();
  const fields: ProtoField[] = [];
  for (const field of nodesOf(node, "field")) {
    const index = field["proto3Optional"] === true ? undefined : numberOf(field, "oneofIndex");
    if (index === undefined) fields.push(fieldOf(field, scope, undefined, types));
    else members.set(index, [...(members.get(index) ?? []), field]);
  }
  const oneofs: ProtoNode[] = [];
  for (const [index, oneof] of declared.entries()) {
    const own = members.get(index);
    if (own === undefined) continue;
    const name = nameOf(oneof, scope);
    const options = optionsOf(descriptor.OneofOptions, oneof["options"], `${scope.file}: ${scope.name}.${name}`);
    const at = oneofs.push({ file: scope.file, fullName: within(scope.name, name), name, options }) - 1;
    for (const field of own) fields.push(fieldOf(field, scope, at, types));
    members.delete(index);
  }
  if (members.size > 0)
    throw descriptorInvalid(`${scope.file}: ${scope.name}: a field is in a oneof that is not there`);
  return { fields, oneofs };
}

function enumOf(node: SetNode, scope: SetScope): ProtoEnum {
  const { file } = scope;
  const name = nameOf(node, scope);
  const fullName = within(scope.name, name);
  const place = `${file}: ${fullName}`;
  return {
    file,
    fullName,
    name,
    options: optionsOf(descriptor.EnumOptions, node["options"], place),
    values: nodesOf(node, "value").map((value) => {
      const own = nameOf(value, scope);
      const options = optionsOf(descriptor.EnumValueOptions, value["options"], `${place}.${own}`);
      // The values of an enum stand beside it in scope.
      return { file, fullName: within(scope.name, own), name: own, number: numberOf(value, "number") ?? 0, options };
    }),
    reservedNumbers: rangesOf(node, "reservedRange", place, 0),
    reservedNames: [...textsOf(node, "reservedName")],
  };
}

/** Ranges of messages end before `end`, those of enums with it (google/protobuf/descriptor.proto): `behind` is 1 or 0. */
function rangesOf(node: SetNode, member: string, place: string, behind: number): NumberRange[] {
  return nodesOf(node, member).map((range) => {
    const first = numberOf(range, "start") ?? 0;
    const last = (numberOf(range, "end") ?? 0) - behind;
    if (last < first) throw descriptorInvalid(`${place}: the range ${first} to ${last} ends before it begins`);
    return [first, last];
  });
}
