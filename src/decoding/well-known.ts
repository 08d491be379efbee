import { DESCRIPTOR_PROTO } from "./descriptor-proto.ts";

const head = (body: string): string => `syntax = "proto3"; package google.protobuf; ${body}`;

const wrappers = [
  ["DoubleValue", "double"],
  ["FloatValue", "float"],
  ["Int64Value", "int64"],
  ["UInt64Value", "uint64"],
  ["Int32Value", "int32"],
  ["UInt32Value", "uint32"],
  ["BoolValue", "bool"],
  ["StringValue", "string"],
  ["BytesValue", "bytes"],
].map(([name, type]) => `message ${name} { ${type} value = 1; }`);

/**
 * The well-known types, by import path: https://protobuf.dev/reference/protobuf/google.protobuf/. They are known without
 * being uploaded, and a file of the same path is passed over: whoever uploads it, in text or in a set, says the same as
 * whoever does not.
 */
export const WELL_KNOWN_FILES: ReadonlyMap<string, string> = new Map([
  ["google/protobuf/any.proto", head("message Any { string type_url = 1; bytes value = 2; }")],
  ["google/protobuf/duration.proto", head("message Duration { int64 seconds = 1; int32 nanos = 2; }")],
  ["google/protobuf/empty.proto", head("message Empty {}")],
  ["google/protobuf/field_mask.proto", head("message FieldMask { repeated string paths = 1; }")],
  ["google/protobuf/timestamp.proto", head("message Timestamp { int64 seconds = 1; int32 nanos = 2; }")],
  ["google/protobuf/wrappers.proto", head(wrappers.join(" "))],
  [
    "google/protobuf/struct.proto",
    head(`
      message Struct { map<string, Value> fields = 1; }
      message Value {
        oneof kind {
          NullValue null_value = 1;
          double number_value = 2;
          string string_value = 3;
          bool bool_value = 4;
          Struct struct_value = 5;
          ListValue list_value = 6;
        }
      }
      enum NullValue { NULL_VALUE = 0; }
      message ListValue { repeated Value values = 1; }`),
  ],
  ["google/protobuf/descriptor.proto", DESCRIPTOR_PROTO],
  ["google/protobuf/source_context.proto", head("message SourceContext { string file_name = 1; }")],
  [
    "google/protobuf/type.proto",
    `syntax = "proto3"; package google.protobuf;
     import "google/protobuf/any.proto"; import "google/protobuf/source_context.proto";
     message Type {
       string name = 1; repeated Field fields = 2; repeated string oneofs = 3; repeated Option options = 4;
       SourceContext source_context = 5; Syntax syntax = 6; string edition = 7;
     }
     message Field {
       enum Kind {
         TYPE_UNKNOWN = 0; TYPE_DOUBLE = 1; TYPE_FLOAT = 2; TYPE_INT64 = 3; TYPE_UINT64 = 4; TYPE_INT32 = 5;
         TYPE_FIXED64 = 6; TYPE_FIXED32 = 7; TYPE_BOOL = 8; TYPE_STRING = 9; TYPE_GROUP = 10; TYPE_MESSAGE = 11;
         TYPE_BYTES = 12; TYPE_UINT32 = 13; TYPE_ENUM = 14; TYPE_SFIXED32 = 15; TYPE_SFIXED64 = 16;
         TYPE_SINT32 = 17; TYPE_SINT64 = 18;
       }
       enum Cardinality {
         CARDINALITY_UNKNOWN = 0; CARDINALITY_OPTIONAL = 1; CARDINALITY_REQUIRED = 2; CARDINALITY_REPEATED = 3;
       }
       Kind kind = 1; Cardinality cardinality = 2; int32 number = 3; string name = 4; string type_url = 6;
       int32 oneof_index = 7; bool packed = 8; repeated Option options = 9; string json_name = 10;
       string default_value = 11;
     }
     message Enum {
       string name = 1; repeated EnumValue enumvalue = 2; repeated Option options = 3;
       SourceContext source_context = 4; Syntax syntax = 5; string edition = 6;
     }
     message EnumValue { string name = 1; int32 number = 2; repeated Option options = 3; }
     message Option { string name = 1; Any value = 2; }
     enum Syntax { SYNTAX_PROTO2 = 0; SYNTAX_PROTO3 = 1; SYNTAX_EDITIONS = 2; }`,
  ],
  [
    "google/protobuf/api.proto",
    `syntax = "proto3"; package google.protobuf;
     import "google/protobuf/source_context.proto"; import "google/protobuf/type.proto";
     message Api {
       string name = 1; repeated Method methods = 2; repeated Option options = 3; string version = 4;
       SourceContext source_context = 5; repeated Mixin mixins = 6; Syntax syntax = 7; string edition = 8;
     }
     message Method {
       string name = 1; string request_type_url = 2; bool request_streaming = 3; string response_type_url = 4;
       bool response_streaming = 5; repeated Option options = 6; Syntax syntax = 7; string edition = 8;
     }
     message Mixin { string name = 1; string root = 2; }`,
  ],
]);
