import { mkdtempSync, rmSync } from "node:fs";
import type * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { takeDirectories } from "../../../src/kv/embedded/directories.ts";

const hung = vi.hoisted(() => new Set<string>());
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  return {
    ...real,
    readdir: (path: string) => (hung.has(path) ? new Promise(() => undefined) : real.readdir(path)),
  };
});

it("a directory whose disk hangs is waited for without the thread, and the others can be taken again", async () => {
  const root = mkdtempSync(join(tmpdir(), "ysearch-kv-hung-"));
  const directories = await takeDirectories([join(root, "a"), join(root, "b"), join(root, "c")]);
  hung.add(directories.paths.b);
  const answered = vi.fn<() => void>();
  const waiting = directories.retake("b", false);
  waiting.then(answered, answered);
  await expect(directories.retake("a", false)).resolves.toBeUndefined();
  await expect(directories.retake("c", false)).resolves.toBeUndefined();
  expect(answered).not.toHaveBeenCalled();
  await directories.release();
  rmSync(root, { recursive: true });
});
