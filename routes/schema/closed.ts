import {
  type ObjectOptions,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from "@sinclair/typebox";

/** An object that has these properties and no others. The only way in which routes declare objects. */
export function Closed<P extends TProperties>(properties: P, options: ObjectOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** One of these words. */
export function Words<const W extends readonly string[]>(words: W, description?: string): TUnsafe<W[number]> {
  return Type.Unsafe<W[number]>({
    type: "string",
    enum: [...words],
    ...(description === undefined ? {} : { description }),
  });
}

/** A map whose keys match `keys` and whose values match `value`: closed by its keys. At most 100 entries. */
export function KeyedBy<T>(keys: string, value: TSchema, description: string): TUnsafe<Readonly<Record<string, T>>> {
  return Type.Unsafe<Readonly<Record<string, T>>>({
    type: "object",
    description,
    propertyNames: { type: "string", pattern: keys },
    additionalProperties: value,
    maxProperties: 100,
  });
}

/** Marks a place where any JSON value may stand: a stored document's body, which is the producers' and not ours. */
export const ANY_JSON_COMMENT = "any-json";

/** Any JSON value. `routes/schema/route-guard.ts` admits it in responses alone. */
export function AnyJson(description: string): TUnsafe<unknown> {
  return Type.Unsafe<unknown>({ $comment: ANY_JSON_COMMENT, description });
}

type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** `T` with the members that may be undefined left out instead. */
export type Defined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> };

/** Drops members that are undefined, so that what is unknown is absent from a body. */
export function defined<T extends object>(members: T): Defined<T>;
export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
