/** A query read strictly: fields by name, or what is wrong with it. */
export type QueryReading =
  | { readonly ok: true; readonly fields: Record<string, string> }
  | { readonly ok: false; readonly pointer: string; readonly text: string };

/**
 * Reads a query string, without its question mark. Refused, because any reading of it would be a guess: broken
 * percent-encoding, bytes that are not UTF-8, a field without `=`, an empty part between two `&`, a repeated field.
 * `+` is a space, as forms write it. The object has no prototype, so `__proto__` is a field like any other.
 */
export function readQuery(query: string): QueryReading {
  const fields: Record<string, string> = Object.create(null);
  if (query === "") return { ok: true, fields };
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    const name = decodeField(equals < 0 ? part : part.slice(0, equals));
    if (name === undefined) return refused("", "a name's percent-encoding is broken or does not spell UTF-8");
    if (name === "") return refused("", "there is an empty field");
    if (equals < 0) return refused(`/${name}`, "the field has no value: write name=value");
    if (name in fields) return refused(`/${name}`, "the field is given twice");
    const value = decodeField(part.slice(equals + 1));
    if (value === undefined) return refused(`/${name}`, "percent-encoding is broken or does not spell UTF-8");
    fields[name] = value;
  }
  return { ok: true, fields };
}

/** For the router, which cannot refuse: a query that {@link readQuery} refuses has no fields. `edge/gate.ts` refuses it. */
export function queryFields(query: string): Record<string, string> {
  const reading = readQuery(query);
  return reading.ok ? reading.fields : Object.create(null);
}

function refused(pointer: string, text: string): QueryReading {
  return { ok: false, pointer, text };
}

function decodeField(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
