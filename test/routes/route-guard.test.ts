import { Type } from "@sinclair/typebox";
import type { RouteOptions } from "fastify";
import { describe, expect, test } from "vitest";
import { AnyJson, Closed, KeyedBy, Words } from "../../routes/schema/closed.ts";
import { json } from "../../routes/schema/operation.ts";
import { testEdge } from "./support/app.ts";

const OPEN = Type.Object({ a: Type.String() });
const GOOD = {
  operationId: "getThing",
  summary: "A thing",
  description: "A thing.",
  tags: ["things"],
  params: Closed({}),
  querystring: Closed({}),
  response: { 200: json("A thing.", Closed({ a: Type.String() })) },
};

async function register(schema: object, more: Partial<RouteOptions> = {}): Promise<string> {
  const app = await testEdge();
  try {
    app.route({
      method: "PUT",
      url: "/thing",
      schema,
      config: { access: "viewer" },
      handler: () => ({ a: "b" }),
      ...more,
    });
  } catch (error) {
    return error instanceof Error ? error.message : "something else was thrown";
  }
  return "registered";
}

describe("a route's contract", () => {
  test("that is closed is registered", async () => {
    expect(await register(GOOD)).toBe("registered");
    expect(await register({ ...GOOD, body: Closed({ map: KeyedBy("^[a-z]{1,9}$", Closed({}), "Things.") }) })).toBe(
      "registered",
    );
    expect(await register({ ...GOOD, response: { 200: json("A thing.", Closed({ a: AnyJson("Anything.") })) } })).toBe(
      "registered",
    );
  });

  test.each([
    ["body", { ...GOOD, body: OPEN }, /body is an open object/],
    ["params", { ...GOOD, params: OPEN }, /params is an open object/],
    ["query", { ...GOOD, querystring: OPEN }, /querystring is an open object/],
    [
      "a response",
      { ...GOOD, response: { 200: json("A thing.", OPEN) } },
      /response 200 application\/json is an open object/,
    ],
    ["a bare response", { ...GOOD, response: { 200: OPEN } }, /response 200 is an open object/],
    ["a response of failure", { ...GOOD, response: { ...GOOD.response, 404: json("None.", OPEN) } }, /response 404/],
    ["a member", { ...GOOD, body: Closed({ a: OPEN }) }, /body\/properties\/a is an open object/],
    ["a list's items", { ...GOOD, body: Type.Array(OPEN) }, /body\/items is an open object/],
    [
      "a branch of a union",
      { ...GOOD, body: Type.Union([Type.String(), Closed({ b: Type.Array(OPEN) })]) },
      /anyOf\/1\/properties\/b\/items/,
    ],
    [
      "a map's values",
      { ...GOOD, body: KeyedBy("^a$", OPEN, "Things.") },
      /body\/additionalProperties is an open object/,
    ],
    [
      "a map without a pattern",
      { ...GOOD, body: Type.Unsafe({ type: "object", additionalProperties: Type.String() }) },
      /open object/,
    ],
    [
      "an object without a type",
      { ...GOOD, body: Type.Unsafe({ enum: [1], properties: {}, additionalProperties: false }) },
      /open object/,
    ],
    [
      "a tuple's member",
      { ...GOOD, body: Type.Unsafe({ type: "array", items: Words(["a"]), prefixItems: [OPEN] }) },
      /prefixItems\/0/,
    ],
  ])("with an open object in %s is refused, with the place", async (_name, schema, why) => {
    expect(await register(schema)).toMatch(why);
  });

  test.each([
    ["any value in a body", { ...GOOD, body: Closed({ a: Type.Unknown() }) }, /admits any value/],
    ["any JSON in a body", { ...GOOD, body: Closed({ a: AnyJson("Anything.") }) }, /admits any value/],
    ["any value in a response", { ...GOOD, response: { 200: json("A thing.", Type.Any()) } }, /admits any value/],
    [
      "an intersection",
      { ...GOOD, body: Type.Intersect([Closed({ a: Type.String() }), Closed({ b: Type.String() })]) },
      /intersection/,
    ],
    ["several types", { ...GOOD, body: Type.Unsafe({ type: ["object", "null"] }) }, /several types/],
    ["an array of anything", { ...GOOD, body: Type.Unsafe({ type: "array" }) }, /array of anything/],
    ["a boolean schema", { ...GOOD, body: true }, /not a schema/],
    ["a headers schema", { ...GOOD, headers: Closed({}) }, /headers schema/],
  ])("with %s is refused", async (_name, schema, why) => {
    expect(await register(schema)).toMatch(why);
  });

  test.each(["params", "querystring", "response", "operationId", "summary", "description", "tags"])(
    "without %s is refused",
    async (part) => {
      expect(await register(Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== part)))).toContain(
        `no ${part}`,
      );
    },
  );

  test("without a response of success, a role, or any schema is refused", async () => {
    expect(await register({ ...GOOD, response: { 404: GOOD.response[200] } })).toContain(
      "no response schema of success",
    );
    expect(await register(GOOD, { config: {} })).toContain("no access");
    expect(await register(GOOD, { config: { access: "root" as never } })).toContain("no access");
    expect(await register(undefined as never)).toContain("not a schema");
  });
});
