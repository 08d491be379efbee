import { checkFeatures } from "./features.ts";
import type { OptionTarget } from "./features.ts";
import { descriptorInvalid } from "./invalid.ts";
import type { ProtoNode, ProtoOption } from "./model.ts";

const words = (text: string): readonly string[] => text.split(" ");

const ALL = words("features uninterpreted_option");
const FIELD = words(
  "ctype packed jstype lazy unverified_lazy deprecated weak debug_redact retention targets edition_defaults feature_support default",
);

/**
 * The options of google/protobuf/descriptor.proto, by what they stand on. Others are refused: one that this list does not
 * have may change how bytes are to be read.
 */
const KNOWN: Readonly<Record<OptionTarget, ReadonlySet<string>>> = {
  file: new Set([
    ...ALL,
    ...words(
      "java_package java_outer_classname java_multiple_files java_generate_equals_and_hash java_string_check_utf8",
    ),
    ...words("optimize_for go_package cc_generic_services java_generic_services py_generic_services deprecated"),
    ...words("php_generic_services cc_enable_arenas objc_class_prefix csharp_namespace swift_prefix php_class_prefix"),
    ...words("php_namespace php_metadata_namespace ruby_package"),
  ]),
  message: new Set([
    ...ALL,
    ...words("message_set_wire_format no_standard_descriptor_accessor deprecated map_entry"),
    "deprecated_legacy_json_field_conflicts",
  ]),
  field: new Set([...ALL, ...FIELD, "json_name"]),
  extension: new Set([...ALL, ...FIELD]),
  oneof: new Set(ALL),
  enum: new Set([...ALL, ...words("allow_alias deprecated deprecated_legacy_json_field_conflicts")]),
  value: new Set([...ALL, ...words("deprecated debug_redact feature_support")]),
  service: new Set([...ALL, "deprecated"]),
  method: new Set([...ALL, ...words("deprecated idempotency_level")]),
};

/** Options that may stand more than once: they are lists. */
const LISTS: ReadonlySet<string> = new Set(["targets", "edition_defaults", "uninterpreted_option"]);

/** Options that change the wire format in a way that is not read. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["message_set_wire_format", "a message set has a wire format of its own, which is not read"],
  ["map_entry", "map_entry is not written by hand: use a map field"],
]);

/** The value of an option; undefined where it does not stand. */
export function optionOf(options: readonly ProtoOption[], name: string): ProtoOption["value"] | undefined {
  return options.find((option) => option.name === name)?.value;
}

/** Whether an option stands there and is true. */
export function isTrue(options: readonly ProtoOption[], name: string): boolean {
  return optionOf(options, name)?.text === "true";
}

/**
 * Checks that all options of a node are known, stand once, and do not change the wire format. Custom ones, in parentheses, are passed over.
 * @throws StreamsError `DESCRIPTOR_INVALID`: the detail names the node and the option.
 */
export function checkOptions(node: Omit<ProtoNode, "name">, target: OptionTarget, level: string): void {
  const seen = new Set<string>();
  for (const { name, value } of node.options) {
    if (name.startsWith("(")) continue;
    const place = `${node.file}: ${node.fullName}: option ${name}`;
    const [first = ""] = name.split(".");
    if (!KNOWN[target].has(first)) throw descriptorInvalid(`${place} is not known among ${target} options`);
    if (seen.has(name) && !LISTS.has(first)) throw descriptorInvalid(`${place} stands twice`);
    seen.add(name);
    const refused = REFUSED.get(name);
    if (refused !== undefined && (value.text !== "false" || name === "map_entry")) {
      throw descriptorInvalid(`${place} = ${value.text} is not supported: ${refused}`);
    }
    if (BOOLEANS.has(name) && (value.is !== "word" || !/^(?:true|false)$/.test(value.text))) {
      throw descriptorInvalid(`${place} must be true or false`);
    }
  }
  checkFeatures(node, target, level);
}

const BOOLEANS: ReadonlySet<string> = new Set(["packed", "allow_alias", "message_set_wire_format", "map_entry"]);
