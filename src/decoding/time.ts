import type { InputValue } from "../ports/decoder.ts";

/** Seconds of 0001-01-01T00:00:00Z and of 9999-12-31T23:59:59Z: the range of google.protobuf.Timestamp. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;
const LAST_NANO = 999_999_999;

/** Whether seconds and nanoseconds are within the range of google.protobuf.Timestamp. */
export function isTimestamp(seconds: number, nanos: number): boolean {
  return seconds >= FIRST_SECOND && seconds <= LAST_SECOND && nanos >= 0 && nanos <= LAST_NANO;
}

/** Milliseconds since 1970 of a valid Timestamp, rounded down. */
export function timeFromTimestamp(seconds: number, nanos: number): number {
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}

/** Milliseconds since 1970 from an integer of milliseconds; undefined outside the years 1 to 9999. */
export function timeFromMilliseconds(value: InputValue): number | undefined {
  if (typeof value !== "bigint") return undefined;
  const inRange = value >= BigInt(FIRST_SECOND) * 1_000n && value <= BigInt(LAST_SECOND) * 1_000n + 999n;
  return inRange ? Number(value) : undefined;
}

/** The canonical JSON form of a valid Timestamp: 0, 3, 6 or 9 digits of a second. */
export function timestampText(seconds: number, nanos: number): string {
  const day = Math.floor(seconds / DAY_SECONDS);
  const second = seconds - day * DAY_SECONDS;
  const clock = `${two(Math.floor(second / 3_600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  return `${dateText(day)}T${clock}${fractionText(nanos)}Z`;
}

const DAY_SECONDS = 86_400;
/** Days of 400 Gregorian years, after which the calendar repeats. */
const ERA_DAYS = 146_097;
/** Days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_1970 = 719_468;

/** Date of a day counted from 1970-01-01. Years are counted from March, so that a leap day is the last day of its year. */
function dateText(day: number): string {
  const days = day + DAYS_TO_1970;
  const era = Math.floor(days / ERA_DAYS);
  const dayOfEra = days - era * ERA_DAYS;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(dayOfMonth)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** RFC 3339 with a capital T, up to nine digits of a second, and Z or an offset. */
const RFC3339 =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Milliseconds since 1970 of a Timestamp's JSON form, rounded down; undefined when it is none, or a day that the calendar
 * does not have, or outside the years 1 to 9999.
 */
export function timeFromText(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day);
  // A day or month that does not exist would roll over into the next.
  if (date.getUTCMonth() + 1 !== month || date.getUTCDate() !== day) return undefined;
  const [fraction = "", sign, offsetHours = "0", offsetMinutes = "0"] = match.slice(7);
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "-" ? -60 : 60);
  const seconds = date.getTime() / 1_000 + (hour ?? 0) * 3_600 + (minute ?? 0) * 60 + (second ?? 0) - offset;
  const nanos = Number(fraction.padEnd(9, "0"));
  return isTimestamp(seconds, nanos) ? timeFromTimestamp(seconds, nanos) : undefined;
}

/** Seconds that google.protobuf.Duration may have, either way: about 10,000 years. */
const LONGEST_SECONDS = 315_576_000_000;

/** Whether seconds and nanoseconds are a google.protobuf.Duration: in range and of one sign. */
export function isDuration(seconds: number, nanos: number): boolean {
  if (Math.abs(seconds) > LONGEST_SECONDS || Math.abs(nanos) > LAST_NANO) return false;
  return !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
}

/** The canonical JSON form of a valid Duration. */
export function durationText(seconds: number, nanos: number): string {
  const sign = seconds < 0 || nanos < 0 ? "-" : "";
  return `${sign}${Math.abs(seconds)}${fractionText(Math.abs(nanos))}s`;
}

function fractionText(nanos: number): string {
  if (nanos === 0) return "";
  const digits = String(nanos).padStart(9, "0");
  if (digits.endsWith("000000")) return `.${digits.slice(0, 3)}`;
  return digits.endsWith("000") ? `.${digits.slice(0, 6)}` : `.${digits}`;
}
