import { describe, expect, test } from "vitest";
import { queryFields, readQuery } from "../../routes/edge/query-string.ts";
import { testApp } from "./support/app.ts";
import { expectProblem } from "./support/contract.ts";

const REFUSED = [
  ["a", "/a", /no value/],
  ["a=1&a=1", "/a", /twice/],
  ["a=1&%61=2", "/a", /twice/],
  ["__proto__=1&__proto__=2", "/__proto__", /twice/],
  ["a=1&", "", /empty field/],
  ["&", "", /empty field/],
  ["=1", "", /empty field/],
  ["a=%zz", "/a", /percent-encoding/],
  ["a=%ff", "/a", /UTF-8/],
  ["a=%ed%a0%80", "/a", /UTF-8/],
  ["%zz=1", "", /percent-encoding/],
] as const;

describe("a query string", () => {
  test.each([
    ["", {}],
    ["a=1", { a: "1" }],
    ["a=", { a: "" }],
    ["a=1&b=2", { a: "1", b: "2" }],
    ["a=b=c", { a: "b=c" }],
    ["a=x+y%2Bz", { a: "x y+z" }],
    ["a=%C3%A9%00", { a: "é\0" }],
    ["toString=1", { toString: "1" }],
    ["?=1", { "?": "1" }],
  ])("%j has these fields", (query, fields) => {
    const reading = readQuery(query);
    expect(reading.ok && Object.entries(reading.fields)).toEqual(Object.entries(fields));
  });

  test("__proto__ is a field, and changes nothing", () => {
    const fields = queryFields("__proto__=1");
    expect(Object.keys(fields)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(fields)).toBeNull();
  });

  test.each(REFUSED)("%j is refused", (query, pointer, why) => {
    expect(readQuery(query)).toEqual({ ok: false, pointer, text: expect.stringMatching(why) });
    expect(Object.keys(queryFields(query))).toEqual([]);
  });

  test.each(REFUSED)("?%s is 400 also where the operation takes no fields at all", async (query, pointer) => {
    const { app } = await testApp();
    const problem = expectProblem(await app.inject({ url: `/v1/lag?${query}` }), "REQUEST_MALFORMED");
    expect(problem["violations"]).toMatchObject([{ place: "query", pointer }]);
  });

  test("a lone question mark is an empty query", async () => {
    const { app } = await testApp();
    expect((await app.inject({ url: "/v1/lag?" })).statusCode).toBe(200);
  });
});
