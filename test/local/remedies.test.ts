import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addressesIn, operationsNotBuilt, pathsOf } from "../../local/remedies.ts";
import { STOPS } from "../../src/core/partition/stop.ts";
import { ERRORS } from "../../src/errors.ts";
import { ROOT } from "../tidy/files.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const openApi = read("openapi/openapi.json");
const { paths } = JSON.parse(openApi) as { readonly paths: Readonly<Record<string, object>> };
const notBuilt = operationsNotBuilt(pathsOf(openApi));
const errors = Object.entries(ERRORS).map(([code, { remedy }]) => [code, remedy] as const);
const stops = Object.entries(STOPS).map(([code, { remedy }]) => [code, remedy] as const);

/** Whether the contract has an address, by its method where one is named. */
function exists(address: string): boolean {
  const [method, path] = address.includes(" ") ? address.split(" ") : [undefined, address];
  const operations = paths[path ?? ""];
  return operations !== undefined && (method === undefined || method.toLowerCase() in operations);
}

test("addresses are found in a text", () => {
  const text =
    "See /openapi.json; GET /v1/sources/{source}/partitions lists them, PUT /v1/a-b/{c} changes; a/b is none.";
  expect(addressesIn(text)).toEqual(["/openapi.json", "GET /v1/sources/{source}/partitions", "PUT /v1/a-b/{c}"]);
  expect([exists("GET /v1/sources"), exists("DELETE /v1/sources"), exists("/v1/epochs")]).toEqual([true, false, false]);
});

test.each([...errors, ...stops])("%s names only addresses of the contract", (_code, remedy) => {
  expect(addressesIn(remedy).filter((address) => !exists(address))).toEqual([]);
});

test.each(errors)("%s names no operation that is not built", (_code, remedy) => {
  expect(notBuilt.filter(({ words }) => words.test(remedy)).map(({ what }) => what)).toEqual([]);
});

test.each(stops)("%s names operations that are built, or that openapi/ERRORS.md says are not", (_code, remedy) => {
  const page = read("openapi/ERRORS.md").split("## Not in this version")[1] ?? "";
  const silent = notBuilt.filter(({ words, what }) => words.test(remedy) && !page.includes(what));
  expect(silent.map(({ what }) => what)).toEqual([]);
});
