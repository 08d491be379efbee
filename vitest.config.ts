import { defineConfig } from "vitest/config";

/** Tests that need the run's shared broker, or start brokers of their own. */
const BROKER_TESTS = [
  "test/integration/**/*.test.ts",
  "test/assumptions/**/*.test.ts",
  "test/consumers/kafka/broker*.test.ts",
  "test/local/broker*.test.ts",
];

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["{src,routes,consumers}/**/*.ts"],
      exclude: ["**/*.generated.ts"],
      reporter: ["text-summary", "json-summary", "html"],
      // The floor only rises: 'npm run coverage:raise' writes a higher one here. What runs in processes and threads of
      // its own (the built service, the owners' workers) is not counted.
      thresholds: {
        lines: 90,
        statements: 89,
        functions: 88,
        branches: 83,
        autoUpdate: process.env["RAISE_COVERAGE"] === undefined ? false : Math.floor,
      },
    },
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: BROKER_TESTS },
      },
      {
        extends: true,
        test: {
          name: "broker",
          include: BROKER_TESTS,
          globalSetup: ["test/support/global-broker.ts"],
          testTimeout: 90_000,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
