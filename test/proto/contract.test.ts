import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildSchema } from "../../src/decoding/schema-build.ts";
import { BUILTIN_DESCRIPTORS } from "../../src/descriptors/builtin.ts";
import { CONTRACT_FILES } from "../../src/descriptors/builtin.generated.ts";

const run = promisify(execFile);
const BUF = join("node_modules", ".bin", "buf");

/** Runs buf. Resolves to what it wrote; rejects with it when it found something. */
async function buf(...args: string[]): Promise<string> {
  const { stdout } = await run(BUF, args, { env: { ...process.env, BUF_CACHE_DIR: folder } });
  return stdout;
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "contract-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the generated file is what the .proto files say", async () => {
  const { stdout } = await run(process.execPath, ["proto/generate.mjs", "--print"]);
  expect(await readFile("src/descriptors/builtin.generated.ts", "utf8"), "run node proto/generate.mjs").toBe(stdout);
});

test("every built-in subject compiles and has its message", () => {
  expect(BUILTIN_DESCRIPTORS.map(({ subject }) => subject)).toEqual([
    "ysearch.article",
    "ysearch.ad_action",
    "ysearch.beacon",
    "ysearch.campaign",
    "ysearch.dial",
    "ysearch.bid",
  ]);
  for (const { files, message } of BUILTIN_DESCRIPTORS) {
    const found = buildSchema(files).message(message);
    expect(found?.byNumber.get(1)?.value, message).toEqual({ is: "scalar", type: "string" });
  }
});

test("the .proto files pass buf's standard lint", async () => {
  await expect(buf("lint", "proto")).resolves.toBe("");
});

describe("breaking changes", () => {
  const breaking = (against: string) => buf("breaking", against, "--against", "proto/baseline.binpb");

  test("there are none since the baseline", async () => {
    await expect(breaking("proto")).resolves.toBe("");
  });

  test.each([
    ["beacon", "fixed64 visitor_hash = 4;", "fixed64 visitor_hash = 6;"],
    ["beacon", "fixed64 visitor_hash = 4;", "uint64 visitor_hash = 4;"],
    ["beacon", "string metric = 2;", "string kind = 2;"],
    ["ad_action", "ACTION_CLICK = 2;", "ACTION_CLICK = 3;"],
  ])("%s: '%s' into '%s' is found", async (file, from, into) => {
    const copy = join(folder, `copy-${into.replaceAll(/\W/g, "-")}`);
    await cp("proto", copy, { recursive: true });
    const path = join(copy, "ysearch", "streams", "v1", `${file}.proto`);
    const text = await readFile(path, "utf8");
    expect(text).toContain(from);
    await writeFile(path, text.replace(from, into));
    await expect(breaking(copy)).rejects.toMatchObject({ code: 100 });
  });
});

test("the contract keeps the numbers that the kinds' mappings name", () => {
  const numbers = (name: string) =>
    Object.fromEntries(
      (buildSchema(CONTRACT_FILES).message(`ysearch.streams.v1.${name}`)?.fields ?? []).map((field) => [
        field.name,
        field.number,
      ]),
    );
  expect(numbers("Beacon")).toEqual({ article_id: 1, metric: 2, occurred_at: 3, visitor_hash: 4, count: 5 });
  expect(numbers("AdAction")).toEqual({
    campaign_id: 1,
    article_id: 2,
    placement_id: 3,
    site_id: 4,
    publisher_id: 5,
    action: 6,
    served_score: 7,
    occurred_at: 8,
  });
  expect(numbers("Dial")).toMatchObject({ id: 1, target: 2, period: 3 });
});
