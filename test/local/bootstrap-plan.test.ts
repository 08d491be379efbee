import { describe, expect, test } from "vitest";

import { closingLine, isInstalled, nodeObstacle, planTask } from "../../local/bootstrap-plan.mjs";

test.each([
  ["20.19.0", true],
  ["20.20.2", true],
  ["22.0.0", true],
  ["24.22.3", true],
  ["20.18.9", false],
  ["18.20.4", false],
])("Node %s is good enough: %s", (version, good) => {
  expect(nodeObstacle(version) === undefined).toBe(good);
});

describe("what is installed", () => {
  const lock = {
    packages: {
      "": { name: "root" },
      "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
      "node_modules/linux-only": { version: "2.0.0", integrity: "sha512-l", optional: true },
    },
  };

  test("is enough without the optional packages of other machines", () => {
    expect(isInstalled(lock, { packages: { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } } })).toBe(
      true,
    );
  });

  test.each([
    ["nothing", undefined],
    ["a package is missing", { packages: {} }],
    ["a version differs", { packages: { "node_modules/a": { version: "1.0.1", integrity: "sha512-a" } } }],
    ["the content differs", { packages: { "node_modules/a": { version: "1.0.0", integrity: "sha512-b" } } }],
    [
      "an optional one differs",
      {
        packages: {
          "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
          "node_modules/linux-only": { version: "1.9.0", integrity: "sha512-l" },
        },
      },
    ],
  ])("is not enough when %s", (_, installed) => {
    expect(isInstalled(lock, installed)).toBe(false);
  });
});

describe("tasks", () => {
  test("the test run of all is the gate; one with filters hands them to vitest and skips the checks", () => {
    expect(planTask("test", [])).toMatchObject({ build: true, check: true, countsTests: true });
    const filtered = planTask("test", ["test/kv", "-t", "merge"]);
    expect(filtered).toMatchObject({ build: true, check: false });
    expect(filtered).toHaveProperty("command", expect.arrayContaining(["run", "test/kv", "-t", "merge"]));
  });

  test("a broker needs no build", () => {
    expect(planTask("broker", ["--port", "9092"])).toMatchObject({
      build: false,
      command: ["--import", "tsx", "local/broker/main.ts", "--port", "9092"],
    });
  });

  test.each([undefined, "tests", "toString"])("there is no task %s", (name) => {
    expect(planTask(name, [])).toMatch(/^unknown task .*test, soak, demo, broker, topic, start$/);
  });
});

test.each([
  [{ passed: 3, failed: 0, skipped: 0 }, "3 passed, 0 failed", true],
  [{ passed: 3, failed: 1, skipped: 2 }, "3 passed, 1 failed, 2 skipped", true],
  [{ passed: 0, failed: 0, skipped: 2 }, "0 passed, 0 failed, 2 skipped", false],
  [undefined, "0 passed, 0 failed", false],
])("the closing line of %j is %j", (counts, line, ran) => {
  expect(closingLine(counts)).toEqual({ line, ran });
});
