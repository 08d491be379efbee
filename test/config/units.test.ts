import { expect, test } from "vitest";
import { formatBytes, formatDuration, parseBytes, parseDuration, parseTimestamp } from "../../src/config/units.ts";

test.each([
  [0, 0],
  [65_536, 65_536],
  ["65536", 65_536],
  ["1KiB", 1024],
  ["64MiB", 67_108_864],
  ["2GiB", 2_147_483_648],
])("size %s is %d bytes", (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});

test.each([
  -1,
  1.5,
  NaN,
  2 ** 53,
  "64MB",
  "64 MiB",
  "64mib",
  "1.5GiB",
  "",
  "MiB",
  "-1KiB",
  "0x10",
  "9007199254740993",
  "99999999GiB",
  true,
  null,
  [],
])("%j is not a size", (value) => {
  expect(parseBytes(value)).toBeUndefined();
});

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["5m", 300_000],
  ["48h", 172_800_000],
  ["7d", 604_800_000],
  ["0s", 0],
])("duration %s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([500, "500", "1.5s", "30 s", "30S", "1w", "-1s", "", "s", "999999999999999d"])(
  "%j is not a duration",
  (value) => {
    expect(parseDuration(value)).toBeUndefined();
  },
);

test.each([
  ["1970-01-01T00:00:00Z", 0],
  ["2026-01-31T12:30:15Z", Date.UTC(2026, 0, 31, 12, 30, 15)],
  ["2026-01-31T12:30:15.5Z", Date.UTC(2026, 0, 31, 12, 30, 15, 500)],
  ["2026-01-31T12:30:15.123999999Z", Date.UTC(2026, 0, 31, 12, 30, 15, 123)],
  ["2026-01-31T12:30:15+05:30", Date.UTC(2026, 0, 31, 7, 0, 15)],
  ["2024-02-29T00:00:00-01:00", Date.UTC(2024, 1, 29, 1)],
])("moment %s", (text, ms) => {
  expect(parseTimestamp(text)).toBe(ms);
});

test.each([
  "2026-01-31",
  "2026-01-31T12:30:15",
  "2026-01-31 12:30:15Z",
  "2026-01-31t12:30:15z",
  "2026-02-30T00:00:00Z",
  "2025-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:60:00Z",
  "2026-01-01T00:00:60Z",
  "2026-01-01T00:00:00+24:00",
  "2026-01-01T00:00:00+00:60",
  "2026-01-01T00:00:00.Z",
  "0026-01-01T00:00:00Z",
  "1969-12-31T23:59:59Z",
  "1767225600000",
])("%s is not a moment", (text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});

test("sizes and durations are spelled so that they read back the same", () => {
  for (const bytes of [0, 1, 1000, 1024, 1536, 67_108_864, 2 ** 31]) expect(parseBytes(formatBytes(bytes))).toBe(bytes);
  for (const ms of [0, 1, 999, 1500, 20_000, 90_000, 3_600_000, 86_400_000])
    expect(parseDuration(formatDuration(ms))).toBe(ms);
  expect([formatBytes(67_108_864), formatBytes(1536), formatDuration(20_000), formatDuration(86_400_000)]).toEqual([
    "64MiB",
    "1536",
    "20s",
    "24h",
  ]);
});
