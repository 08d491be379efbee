import { defineConfig } from "vitest/config";

/** Long runs that measure; each file starts what it needs and writes a result under bench/results/. */
export default defineConfig({
  test: {
    include: ["test/soak/**/*.soak.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 0,
    hookTimeout: 0,
    teardownTimeout: 60_000,
  },
});
