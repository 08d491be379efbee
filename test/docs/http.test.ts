import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WAIT_PATTERN } from "../../routes/edge/waits.ts";
import { DEFAULT_HTTP_LIMITS } from "../../routes/limits.ts";
import { VISITORS_ERROR_PERCENT } from "../../routes/schema/counters.ts";
import { LIMITS } from "../../src/config/limits.ts";
import { BARRIER_LIFE_MS, BARRIER_SLOTS } from "../../src/control/barrier-records.ts";
import { RATE_WINDOW_MS } from "../../src/core/time-to-loss.ts";
import { ERRORS } from "../../src/errors.ts";
import { EXPLAIN_AT_ONCE_MAX } from "../../src/explain/explain-service.ts";
import { KEY_SEARCH_BYTES_MAX, KEY_SEARCH_MS_MAX } from "../../src/explain/key-search.ts";
import { INSTANCE_BEAT_MS, INSTANCE_LIFE_MS } from "../../src/fleet/instance-registry.ts";
import { GAP_PAGES_MAX } from "../../src/gaps/gaps-within.ts";
import { LETTER_ORIGINS_MAX } from "../../src/letters/letter-scan.ts";
import { LETTER_ATTEMPTS_MAX } from "../../src/letters/redrive-work.ts";
import { INGEST_REASONS } from "../../src/ports/ingest.ts";
import {
  BULK_CELLS_MAX,
  COUNTERS_ATTEMPTS,
  COUNTERS_KEY_PAGE_MAX,
  COUNTERS_PAGE_MAX,
  PAGE_CELLS_MAX,
} from "../../src/queries/counter-queries.ts";
import { ROOT } from "../tidy/files.ts";

const text = readFileSync(join(ROOT, "docs/http.md"), "utf8").replaceAll(/\s+/g, " ");
const openapi = readFileSync(join(ROOT, "openapi/openapi.json"), "utf8");

const WORDS = ["none", "one", "two", "three", "four", "five"];
const MIB = 1024 * 1024;

/** Numbers that the page names, each with the constant that decides it. */
const SAID: readonly (readonly [said: string, decidedBy: unknown, value: unknown])[] = [
  [`At most ${BARRIER_SLOTS} barriers of a source, each kept for a day`, BARRIER_LIFE_MS, 24 * 3_600_000],
  [`${GAP_PAGES_MAX} pages of a partition's ledger are looked through, newest first`, GAP_PAGES_MAX, GAP_PAGES_MAX],
  [`for at most ${KEY_SEARCH_BYTES_MAX / MIB} MiB and ${KEY_SEARCH_MS_MAX / 1_000} seconds`, true, true],
  [`explanations run at once, the next is 429`, true, true],
  [`${capital(WORDS[EXPLAIN_AT_ONCE_MAX])} explanations run`, true, true],
  [`${DEFAULT_HTTP_LIMITS.waitsMax} wait at once on one instance, the next is 429 \`WAITS_TOO_MANY\``, true, true],
  [`\`seenAt\`), every ${INSTANCE_BEAT_MS / 1_000} seconds`, true, true],
  [`until \`expiresAt\`, ${INSTANCE_LIFE_MS / 1_000} seconds after its last word`, true, true],
  [`at ${LETTER_ATTEMPTS_MAX} attempts no further one is made`, true, true],
  [`Letters of more than ${LETTER_ORIGINS_MAX.toLocaleString("en")} records at once`, true, true],
  [`a standard error of ${VISITORS_ERROR_PERCENT} %`, true, true],
  [
    `at most ${COUNTERS_PAGE_MAX.toLocaleString("en")} spans or members (of a bulk read ${COUNTERS_KEY_PAGE_MAX} of`,
    true,
    true,
  ],
  [
    `after about ${PAGE_CELLS_MAX.toLocaleString("en")} slots (a bulk read ${BULK_CELLS_MAX.toLocaleString("en")})`,
    true,
    true,
  ],
  [`A calibration of more than ${BULK_CELLS_MAX.toLocaleString("en")} slots`, true, true],
  [`begin anew, ${WORDS[COUNTERS_ATTEMPTS]} times in all, and then 503`, true, true],
  ["waits up to 20 seconds", new RegExp(WAIT_PATTERN).test("20"), !new RegExp(WAIT_PATTERN).test("21")],
  ["has moved in the last hour", RATE_WINDOW_MS, 3_600_000],
  ["measured once each `limits.boundsEvery`", "boundsEvery" in LIMITS, true],
];

function capital(word = ""): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

test.each(SAID)("docs/http.md: %s", (said, decidedBy, value) => {
  expect(text).toContain(said);
  expect(decidedBy).toEqual(value);
});

test("the contract names the same numbers", () => {
  expect(openapi).toContain(`At most ${BARRIER_SLOTS} per source`);
  expect(openapi).toContain(`longer than the ${GAP_PAGES_MAX} pages that are looked through`);
});

test("every code and every reason that docs/http.md names exists, and every reason is named", () => {
  const codes = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code = ""]) => code);
  expect(codes.length).toBeGreaterThan(2);
  expect(codes.filter((code) => !(code in ERRORS))).toEqual([]);
  for (const reason of INGEST_REASONS) expect(text).toContain(`\`${reason}\``);
});
