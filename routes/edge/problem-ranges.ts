/** A member of an error's extra as a range `[from, to)` of decimal offsets; undefined when it is none. */
export function rangeMember(value: unknown): { readonly from: string; readonly to: string } | undefined {
  const [from, to] = texts(value, "from", "to");
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** The same for the bounds of a log. */
export function boundsMember(value: unknown): { readonly logStart: string; readonly end: string } | undefined {
  const [logStart, end] = texts(value, "logStart", "end");
  return logStart === undefined || end === undefined ? undefined : { logStart, end };
}

function texts(value: unknown, ...names: readonly string[]): readonly (string | undefined)[] {
  const members = new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
  return names.map((name) => {
    const member = members.get(name);
    return typeof member === "string" ? member : undefined;
  });
}
