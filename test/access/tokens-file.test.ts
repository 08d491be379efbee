import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hashToken, parseTokens, readTokensFile } from "../../src/access/index.ts";

const ONE = hashToken("0123456789-abcdefghij");
const TWO = hashToken("0123456789-abcdefghik");
const ENTRIES = [
  { name: "dashboard", role: "viewer", sha256: ONE },
  { name: "chief", role: "admin", sha256: TWO },
];

describe("parseTokens", () => {
  test("reads a YAML list", () => {
    const text = `# who may call\n- name: dashboard\n  role: viewer\n  sha256: ${ONE}\n- { name: chief, role: admin, sha256: ${TWO} }\n`;
    expect(parseTokens(text)).toEqual(ENTRIES);
  });

  test("reads a JSON list, which is YAML", () => {
    expect(parseTokens(JSON.stringify(ENTRIES))).toEqual(ENTRIES);
  });

  test("reads JSON lines", () => {
    const lines = ENTRIES.map((entry) => JSON.stringify(entry)).join("\r\n\n");
    expect(parseTokens(`${lines}\n`)).toEqual(ENTRIES);
  });

  test.each([
    ["nothing", "", /names no token/],
    ["a comment alone", "# soon\n", /names no token/],
    ["an empty list", "[]", /names no token/],
    ["an object", "tokens: []", /neither a YAML list/],
    ["a word", "hello", /neither a YAML list/],
    ["no YAML", "- {", /not YAML/],
    ["a key twice", `- { name: a, name: b, role: admin, sha256: ${ONE} }`, /not YAML/],
    ["an anchor", `- &x { name: a, role: admin, sha256: ${ONE} }\n- *x\n`, /not YAML/],
    ["a broken line", `${JSON.stringify(ENTRIES[0])}\n{"name":`, /line 2 is not JSON/],
    ["an unknown member", `- { name: a, role: admin, sha256: ${ONE}, roles: x }`, /token 1 has an unknown member/],
    ["no name", `- { role: admin, sha256: ${ONE} }`, /token 1: name/],
    ["a bad name", `- { name: "A b", role: admin, sha256: ${ONE} }`, /token 1: name/],
    ["no such role", `- { name: a, role: root, sha256: ${ONE} }`, /role must be one of viewer, operator, admin/],
    ["capitals in a hash", `- { name: a, role: admin, sha256: ${ONE.toUpperCase()} }`, /64 lower-case hex/],
    [
      "a name twice",
      `- { name: a, role: admin, sha256: ${ONE} }\n- { name: a, role: viewer, sha256: ${TWO} }`,
      /repeats the name/,
    ],
    [
      "a token twice",
      `- { name: a, role: admin, sha256: ${ONE} }\n- { name: b, role: viewer, sha256: ${ONE} }`,
      /repeats the sha256/,
    ],
    ["an item that is none", "- 7", /token 1 is not an object/],
  ])("refuses %s", (_name, text, why) => {
    expect(() => parseTokens(text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(why) }),
    );
  });

  test("a token that was pasted instead of its hash is not repeated in the failure", () => {
    for (const text of [
      "- { name: a, role: admin, sha256: very-secret }",
      '{"name":"a","sha256":very-secret}',
      "- name: [very-secret",
    ]) {
      try {
        parseTokens(text);
        expect.unreachable();
      } catch (error) {
        expect(String(error)).not.toContain("very-secret");
      }
    }
  });

  test("has a limit", () => {
    const many = Array.from({ length: 1_001 }, (_item, index) => ({ name: `t${index}`, role: "viewer", sha256: ONE }));
    expect(() => parseTokens(JSON.stringify(many))).toThrow(/1000 is the limit/);
  });
});

describe("readTokensFile", () => {
  test("reads a file, and says which one cannot be read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tokens-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "tokens.yaml");
    await expect(readTokensFile(path)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(path),
    });
    await writeFile(path, JSON.stringify(ENTRIES));
    expect(await readTokensFile(path)).toEqual(ENTRIES);
    await writeFile(path, Buffer.from([0xff, 0xfe]));
    await expect(readTokensFile(path)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("UTF-8"),
    });
  });
});
