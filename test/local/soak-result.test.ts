import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { writeSoakResult } from "../support/soak-result.ts";

test("a result names when, which commit, which Node, how many cores, and the figures", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ysearch-result-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = writeSoakResult("growth", { recordsPerSecond: 250_000 }, folder);
  expect(basename(file)).toMatch(/^growth-\d{4}-\d\d-\d\dT[\d-]+Z\.json$/);
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
    name: "growth",
    date: expect.stringMatching(/^\d{4}-/),
    commit: expect.stringMatching(/^([0-9a-f]{40}( and changes)?|unknown.*)$/),
    node: process.version,
    cores: expect.any(Number),
    figures: { recordsPerSecond: 250_000 },
  });
});
