// What the bootstrap decides, apart from what it does. Plain JavaScript: it runs before anything is installed.

/** The oldest Node that the service runs on: major, minor. */
const LOWEST_NODE = [20, 19];

/** Why this Node cannot be used; undefined when it can. `version` is like "20.19.0". */
export function nodeObstacle(version) {
  const [major, minor] = version.split(".").map(Number);
  const [lowestMajor, lowestMinor] = LOWEST_NODE;
  if (major > lowestMajor || (major === lowestMajor && minor >= lowestMinor)) return undefined;
  return `ysearch-streams needs Node ${lowestMajor}.${lowestMinor} or newer; this is ${version}. Node 24 is a good choice.`;
}

/**
 * Whether what npm recorded as installed (node_modules/.package-lock.json, written last) is what the lock file asks for.
 * Optional packages are those of other machines; they may be missing, but not differ.
 */
export function isInstalled(lock, installed) {
  const has = installed?.packages ?? {};
  return Object.entries(lock?.packages ?? {}).every(([path, wanted]) => {
    if (path === "") return true;
    const found = has[path];
    if (found === undefined) return wanted.optional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

const TSX = ["--import", "tsx"];
const VITEST = ["node_modules/vitest/vitest.mjs", "run", "--reporter=default", "--reporter=./test/support/reporter.ts"];
const TASKS = {
  test: (args) => ({
    build: true,
    // A run of some tests is a developer's; the gate is the run of all.
    check: args.length === 0,
    countsTests: true,
    command: [...VITEST, ...(args.length === 0 ? ["--coverage"] : args)],
  }),
  soak: (args) => ({
    build: true,
    check: false,
    countsTests: true,
    command: [...VITEST, "--config", "vitest.soak.config.ts", ...args],
  }),
  demo: (args) => ({
    build: true,
    check: false,
    countsTests: false,
    command: [...TSX, "local/demo/main.ts", ...args],
  }),
  broker: (args) => ({
    build: false,
    check: false,
    countsTests: false,
    command: [...TSX, "local/broker/main.ts", ...args],
  }),
  topic: (args) => ({
    build: false,
    check: false,
    countsTests: false,
    command: [...TSX, "local/topic/main.ts", ...args],
  }),
  start: (args) => ({ build: true, check: false, countsTests: false, command: ["dist/src/main.js", ...args] }),
};

/** What a task needs and runs; a text that says what is wrong when there is no such task. */
export function planTask(name, args) {
  if (name !== undefined && Object.hasOwn(TASKS, name)) return TASKS[name](args);
  return `unknown task ${JSON.stringify(name)}; there are: ${Object.keys(TASKS).join(", ")}`;
}

/** The last line of a test run, and whether any test ran. `counts` is what the reporter wrote, if it did. */
export function closingLine(counts) {
  const { passed = 0, failed = 0, skipped = 0 } = counts ?? {};
  const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return { line, ran: passed + failed > 0 };
}
