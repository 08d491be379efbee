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
      include: ["src/**", "routes/**", "consumers/**"],
      reporter: ["text-summary", "json-summary", "html"],
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
