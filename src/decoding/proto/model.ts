/** What a .proto file says, as written: names are not looked up yet, and nothing is checked beyond the grammar. */

/** An option, or one entry of an option that is a message: `features = { a: B }` is `features.a`. */
export interface ProtoOption {
  /** `packed`, `features.field_presence`, `(my.option).part`. */
  readonly name: string;
  readonly value: OptionValue;
}

export interface OptionValue {
  readonly is: "word" | "text" | "number" | "message";
  /** Of a message always empty. */
  readonly text: string;
}

/** What a fault can name. */
export interface ProtoNode {
  /** Import path of the file. */
  readonly file: string;
  /** Without a leading dot. */
  readonly fullName: string;
  readonly name: string;
  readonly options: readonly ProtoOption[];
}

/** Numbers from the first to the last one, both included. */
export type NumberRange = readonly [first: number, last: number];

export interface ProtoEnumValue extends ProtoNode {
  readonly number: number;
}

export interface ProtoEnum extends ProtoNode {
  readonly values: readonly ProtoEnumValue[];
  readonly reservedNumbers: readonly NumberRange[];
  readonly reservedNames: readonly string[];
}

export interface ProtoField extends ProtoNode {
  readonly label: "optional" | "required" | "repeated" | undefined;
  /** As written; a group's is the name of its message. */
  readonly type: string;
  readonly group: boolean;
  /** Type of the keys of a map; `type` is then that of its values. */
  readonly mapKey: string | undefined;
  readonly number: number;
  /** Index of the oneof in the message. */
  readonly oneof: number | undefined;
  /** What an extension extends, as written. */
  readonly extendee: string | undefined;
  /** Full name of the message or package that the field is declared in. */
  readonly scope: string;
}

export interface ProtoMessage extends ProtoNode {
  readonly fields: ProtoField[];
  readonly oneofs: ProtoNode[];
  readonly messages: ProtoMessage[];
  readonly enums: ProtoEnum[];
  readonly extensions: ProtoField[];
  readonly options: ProtoOption[];
  readonly reservedNumbers: NumberRange[];
  readonly reservedNames: string[];
  readonly extensionRanges: NumberRange[];
  /** Whether a group statement declares it. */
  readonly group: boolean;
}

/** A method of a service: only what it needs of types is kept. */
export interface ProtoMethod extends ProtoNode {
  readonly types: readonly string[];
}

export interface ProtoService extends ProtoNode {
  readonly methods: readonly ProtoMethod[];
}

export interface ProtoImport {
  readonly path: string;
  /** `option` imports (edition 2024) show their options only. */
  readonly kind: "plain" | "public" | "weak" | "option";
}

export interface ProtoFile {
  readonly path: string;
  /** `proto2`, `proto3`, or an edition such as `2023`. */
  readonly level: string;
  readonly package: string;
  readonly imports: readonly ProtoImport[];
  readonly options: readonly ProtoOption[];
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  readonly extensions: readonly ProtoField[];
  readonly services: readonly ProtoService[];
}

/** Whether a file has an edition instead of a syntax. */
export function hasEdition(level: string): boolean {
  return level !== "proto2" && level !== "proto3";
}
