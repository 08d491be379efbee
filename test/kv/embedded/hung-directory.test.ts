import { mkdtempSync, rmSync } from "node:fs";
import type * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { type TakenDirectories, takeDirectories } from "../../../src/kv/embedded/directories.ts";

const hung = vi.hoisted(() => ({ paths: new Map<string, Promise<void>>(), asked: 0 }));
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  const answer = async (path: string): Promise<void> => {
    const hanging = hung.paths.get(path);
    if (hanging === undefined) return;
    hung.asked += 1;
    await hanging;
  };
  return {
    ...real,
    realpath: async (path: string) => {
      await answer(path);
      return await real.realpath(path);
    },
    readdir: async (path: string) => {
      await answer(path);
      return await real.readdir(path);
    },
  };
});

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ysearch-kv-hung-"));
  hung.asked = 0;
});
afterEach(() => {
  hung.paths.clear();
  rmSync(root, { recursive: true });
});

/** Three directories of which b's hangs until `answer` is called. */
async function withHung(
  answerMs: number,
): Promise<{ readonly directories: TakenDirectories; readonly answer: () => void }> {
  const paths = [join(root, "a"), join(root, "b"), join(root, "c")] as const;
  const directories = await takeDirectories(paths, { clock: systemClock, answerMs });
  let answer = (): void => undefined;
  const hanging = new Promise<void>((resolve) => (answer = resolve));
  hung.paths.set(directories.paths.b, hanging);
  return { directories, answer };
}

it("a directory whose disk hangs is waited for without the thread, and the others can be taken again", async () => {
  const { directories } = await withHung(3_600_000);
  const answered = vi.fn<() => void>();
  const waiting = directories.retake("b", false);
  waiting.then(answered, answered);
  await expect(directories.retake("a", false)).resolves.toBeUndefined();
  await expect(directories.retake("c", false)).resolves.toBeUndefined();
  expect(answered).not.toHaveBeenCalled();
  await directories.release();
});

it("one that never answers is given up in time, keeps one thread however often it is asked for, and returns", async () => {
  const { directories, answer } = await withHung(20);
  const late = { code: "OWNER_DIRECTORY", text: "it did not answer for 20 ms" };
  for (let time = 1; time <= 3; time += 1) await expect(directories.retake("b", false)).resolves.toEqual(late);
  expect(hung.asked).toBe(1);
  hung.paths.clear();
  answer();
  await vi.waitFor(async () => expect(await directories.retake("b", false)).toBeUndefined());
  expect(directories.holds("b")).toBe(true);
  await directories.release();
});
