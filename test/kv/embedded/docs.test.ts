import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PLANE_DEFAULTS } from "../../../src/kv/embedded/open.ts";
import { OWNER_REASON_CODES } from "../../../src/kv/embedded/protocol.ts";
import { OWNER_STATES } from "../../../src/ports/kv-plane.ts";
import { MIB } from "./support.ts";

const page = readFileSync(new URL("../../../docs/kv-owners.md", import.meta.url), "utf8").replaceAll("\n", " ");

/** Passing states, which nobody has to act on. */
const PASSING = new Set(["OWNER_OPENING", "OWNER_MERGING", "OWNER_CLOSED"]);

it("the page about owners has a row for each state and for each code that somebody may have to act on", () => {
  for (const state of OWNER_STATES) expect(page).toContain(`| \`${state}\` |`);
  for (const code of OWNER_REASON_CODES) expect(page.includes(`| \`${code}\` |`), code).toBe(!PASSING.has(code));
});

it("the page about owners has the figures that are in force", () => {
  const { freeBytesMin, stallMs, behindMs, retryInitialMs, retryMaxMs } = PLANE_DEFAULTS;
  const { compareEveryMs, compareBytesPerSecond, pulseMs } = PLANE_DEFAULTS;
  expect(page).toContain(`less than ${freeBytesMin / MIB} MiB would have been left`);
  expect(page).toContain(`answered nothing for ${stallMs / 1_000} seconds`);
  expect(page).toContain(`writes waited ${behindMs / 1_000} seconds for it`);
  expect([retryInitialMs, retryMaxMs]).toEqual([1_000, 60_000]);
  expect(page).toContain("after 1 second at first and every minute at last");
  expect([compareEveryMs, pulseMs]).toEqual([6 * 3_600_000, 5_000]);
  expect(page).toContain(`every six hours, at ${compareBytesPerSecond / MIB} MiB a second`);
  expect(page).toContain("asked every five seconds");
});
