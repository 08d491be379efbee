import { descriptorInvalid } from "./invalid.ts";
import { levelText } from "./parse-fields.ts";
import { hasEdition } from "./model.ts";
import type { ProtoFile, ProtoNode, ProtoOption } from "./model.ts";

/** What an option can stand on. */
export type OptionTarget =
  | "file"
  | "message"
  | "field"
  | "extension"
  | "oneof"
  | "enum"
  | "value"
  | "service"
  | "method";

interface Feature {
  readonly values: readonly string[];
  readonly targets: readonly OptionTarget[];
}

const EVERYWHERE: readonly OptionTarget[] = [
  "file",
  "message",
  "field",
  "extension",
  "oneof",
  "enum",
  "value",
  "service",
  "method",
];

/** Known features (https://protobuf.dev/editions/features/): a decoder that ignores another one might read wrongly. */
const FEATURES: ReadonlyMap<string, Feature> = new Map<string, Feature>([
  ["field_presence", { values: ["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"], targets: ["file", "field"] }],
  ["enum_type", { values: ["OPEN", "CLOSED"], targets: ["file", "enum"] }],
  ["repeated_field_encoding", { values: ["PACKED", "EXPANDED"], targets: ["file", "field", "extension"] }],
  ["utf8_validation", { values: ["VERIFY", "NONE"], targets: ["file", "field", "extension"] }],
  ["message_encoding", { values: ["LENGTH_PREFIXED", "DELIMITED"], targets: ["file", "field", "extension"] }],
  ["json_format", { values: ["ALLOW", "LEGACY_BEST_EFFORT"], targets: ["file", "message", "enum"] }],
  ["enforce_naming_style", { values: ["STYLE2024", "STYLE_LEGACY"], targets: EVERYWHERE }],
  [
    "default_symbol_visibility",
    { values: ["EXPORT_ALL", "EXPORT_TOP_LEVEL", "LOCAL_ALL", "STRICT"], targets: ["file", "message"] },
  ],
]);

/** Resolved features that decide how bytes are read. */
export interface Features {
  readonly presence: "EXPLICIT" | "IMPLICIT" | "LEGACY_REQUIRED";
  readonly closedEnums: boolean;
  readonly delimited: boolean;
}

/** A feature that stands on something, as one option or as part of `features = { … }`. */
export function ownFeature(options: readonly ProtoOption[], name: string): string | undefined {
  return options.find((option) => option.name === `features.${name}`)?.value.text;
}

/** Features of a whole file: those of its syntax, or the defaults of editions 2023 and 2024 with its own on top. */
export function featuresOfFile({ level, options }: ProtoFile): Features {
  if (level === "proto2") return { presence: "EXPLICIT", closedEnums: true, delimited: false };
  if (level === "proto3") return { presence: "IMPLICIT", closedEnums: false, delimited: false };
  return withOwn({ presence: "EXPLICIT", closedEnums: false, delimited: false }, options);
}

/** Features of what has options of its own. */
export function withOwn(base: Features, options: readonly ProtoOption[]): Features {
  const presence = ownFeature(options, "field_presence");
  const enums = ownFeature(options, "enum_type");
  const encoding = ownFeature(options, "message_encoding");
  return {
    presence:
      presence === "EXPLICIT" || presence === "IMPLICIT" || presence === "LEGACY_REQUIRED" ? presence : base.presence,
    closedEnums: enums === undefined ? base.closedEnums : enums === "CLOSED",
    delimited: encoding === undefined ? base.delimited : encoding === "DELIMITED",
  };
}

/**
 * Checks that all features on a node are known, may stand there, and have a value that exists. Features of a language, in
 * parentheses, concern its code only.
 * @throws StreamsError `DESCRIPTOR_INVALID`.
 */
export function checkFeatures(node: Omit<ProtoNode, "name">, target: OptionTarget, level: string): void {
  for (const { name, value } of node.options) {
    if (name !== "features" && !name.startsWith("features.")) continue;
    const place = `${node.file}: ${node.fullName}`;
    if (!hasEdition(level)) throw descriptorInvalid(`${place}: features do not exist in ${levelText(level)}`);
    const feature = name.slice("features.".length);
    if (feature === "" || feature.startsWith("(")) continue;
    const known = FEATURES.get(feature);
    if (known === undefined || !known.values.includes(value.text)) {
      throw descriptorInvalid(`${place}: feature ${feature} = ${value.text} is not supported`);
    }
    if (!known.targets.includes(target)) {
      throw descriptorInvalid(`${place}: feature ${feature} is not one of ${target} features`);
    }
  }
}
