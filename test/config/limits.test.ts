import { expect, test } from "vitest";
import { LIMITS } from "../../src/config/index.ts";
import { configName, LIMIT_NAMES } from "../../src/config/limits.ts";
import { isCode, isWithin, repositoryFiles } from "../tidy/files.ts";

test("every limit is used by the service: a key that changes nothing would be a lie", () => {
  const users = repositoryFiles()
    .filter(isCode)
    .filter(({ path }) => /^(?:src|routes|consumers)\//.test(path) && !isWithin(path, "src/config"));
  const unused = LIMIT_NAMES.filter((name) => !users.some(({ text }) => text.includes(`limits.${configName(name)}`)));
  expect(unused).toEqual([]);
});

test("every default lies within its bounds, and every limit says in one line what it is", () => {
  for (const name of LIMIT_NAMES) {
    const { default: value, min, max, meaning } = LIMITS[name];
    expect([name, min <= value, value <= max, min < max]).toEqual([name, true, true, true]);
    expect(meaning).toMatch(/^[A-Z].{20,150}\.$/);
  }
});

test("a limit's name tells its unit", () => {
  for (const name of LIMIT_NAMES) expect([name, /Bytes/.test(name)]).toEqual([name, LIMITS[name].unit === "bytes"]);
});
