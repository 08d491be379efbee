import { Type } from "@sinclair/typebox";

/** A text that is one of these. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>(Type.Union(values.map((value) => Type.Literal(value))));
}
