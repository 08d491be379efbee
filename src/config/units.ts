/** Spellings of sizes, durations and moments in the file, and back. Pure. */

const BYTES: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a size: bytes as an integer, or an integer with KiB, MiB or GiB. Undefined when it is neither. */
export function parseBytes(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  return typeof value === "string" ? scaled(value, /^(\d{1,15})(KiB|MiB|GiB)?$/, BYTES, 1) : undefined;
}

/** Reads a duration with its unit (ms, s, m, h, d) as milliseconds. Undefined when it is not one. */
export function parseDuration(value: unknown): number | undefined {
  return typeof value === "string" ? scaled(value, /^(\d{1,15})(ms|s|m|h|d)$/, DURATIONS) : undefined;
}

function scaled(
  text: string,
  shape: RegExp,
  units: Readonly<Record<string, number>>,
  bare?: number,
): number | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const scale = match[2] === undefined ? bare : units[match[2]];
  if (scale === undefined) return undefined;
  const result = Number(match[1]) * scale;
  return Number.isSafeInteger(result) ? result : undefined;
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads an RFC 3339 moment with its zone as milliseconds since 1970, fractions rounded down. Undefined when the text is
 * not one, when the calendar has no such moment, or when it lies before 1970.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const utc = Date.UTC(year, month - 1, day, hour, minute, second);
  const spelled = `${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}`;
  // A month 13 or a 30 February rolls over into another moment: then it does not read back the same.
  if (!Number.isFinite(utc) || new Date(utc).toISOString().slice(0, 19) !== spelled) return undefined;
  const offset = zoneOffset(match[8] ?? "");
  if (offset === undefined) return undefined;
  const result = utc + Number((match[7] ?? "").padEnd(3, "0").slice(0, 3)) - offset;
  return result >= 0 ? result : undefined;
}

function zoneOffset(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Spells a size with the largest unit that leaves no rest: 67108864 is `64MiB`. */
export function formatBytes(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"]) {
    const scale = BYTES[unit] ?? 1;
    if (bytes > 0 && bytes % scale === 0) return `${bytes / scale}${unit}`;
  }
  return `${bytes}`;
}

/** Spells a duration with the largest unit up to hours that leaves no rest: 20000 is `20s`. */
export function formatDuration(ms: number): string {
  for (const unit of ["h", "m", "s"]) {
    const scale = DURATIONS[unit] ?? 1;
    if (ms > 0 && ms % scale === 0) return `${ms / scale}${unit}`;
  }
  return `${ms}ms`;
}
