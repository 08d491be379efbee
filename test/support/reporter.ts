import { writeFileSync } from "node:fs";

import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** How many tests ended how. What failed outside a test (a file that cannot be loaded, a hook) counts as failed. */
interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Writes the run's counts to the file that YSEARCH_TEST_COUNT names, for the bootstrap's closing line. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env["YSEARCH_TEST_COUNT"];
    if (file === undefined) return;
    const counts: Counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count(counts, test.result().state);
      counts.failed += [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0).length;
    }
    writeFileSync(file, JSON.stringify(counts));
  }
}

function count(counts: Counts, state: "pending" | "passed" | "failed" | "skipped"): void {
  if (state === "passed" || state === "failed") counts[state] += 1;
  else counts.skipped += 1;
}
