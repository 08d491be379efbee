import { Type, type TProperties } from "@sinclair/typebox";

/** An object that refuses unknown keys. */
export const closed = <P extends TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description });

/** One of the words. */
export const oneOf = <const W extends readonly string[]>(
  words: W,
  options: { default?: W[number]; description: string },
) =>
  Type.Union(
    words.map((word) => Type.Literal(word as W[number])),
    options,
  );

/** A path, relative to the working directory. */
export const path = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 4096,
    unit: "path",
    right: "a path, relative to the working directory",
    description,
  });

/** A duration, in milliseconds after reading. */
export const duration = (options: { default: number; minimum: number; maximum: number; description: string }) =>
  Type.Integer({ unit: "ms", ...options });

/** A text that may only come from the environment. */
export const secret = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 4096,
    secret: true,
    right: "${NAME} of an environment variable, or the key with File that names a file",
    description,
  });
