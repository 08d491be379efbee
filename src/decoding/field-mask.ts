/**
 * A FieldMask path in lower camel case, or undefined when turning it back would give another path: one with an upper case
 * letter, or an underscore that no lower case letter follows.
 */
export function fieldMaskText(path: string): string | undefined {
  if (/[A-Z]|_(?![a-z])/.test(path)) return undefined;
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
