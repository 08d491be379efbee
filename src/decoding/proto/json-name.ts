/** Default JSON name (protobuf language, json_name): underscores go, and what follows one is upper case. */
export function lowerCamel(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}
