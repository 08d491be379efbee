import { Ajv } from "ajv";
import type { LightMyRequestResponse } from "fastify";
import { expect } from "vitest";
import type { App } from "../../../routes/index.ts";
import { ERRORS, type ErrorCode } from "../../../src/errors.ts";
import { statusOf } from "../../../routes/schema/problem.ts";

type Node = Record<string, unknown>;

/** The contract as the running app publishes it. */
export function contractOf(app: App): Node {
  return JSON.parse(JSON.stringify(app.swagger())) as Node;
}

/** The member at a path of keys; fails the test when there is none. */
export function at(node: unknown, ...keys: readonly string[]): unknown {
  let found = node;
  for (const key of keys) {
    expect(found, keys.join(" → ")).toBeTypeOf("object");
    found = (found as Node)[key];
  }
  expect(found, `${keys.join(" → ")} is missing`).toBeDefined();
  return found;
}

/** Checks an answer against the contract's schema for the operation, its status and its content type. */
export function expectContract(app: App, method: string, path: string, answer: LightMyRequestResponse): void {
  const document = contractOf(app);
  const type = String(answer.headers["content-type"]).split(";")[0] ?? "";
  const key = String(answer.statusCode);
  const schema = at(document, "paths", path, method.toLowerCase(), "responses", key, "content", type, "schema") as Node;
  const ajv = new Ajv({ strictSchema: false, allErrors: true });
  const validate = ajv.compile({ ...schema, components: document["components"] });
  validate(answer.json());
  expect(validate.errors, answer.body).toBeNull();
}

/** Checks that an answer is the problem of this code, complete, and as the contract says. */
export function expectProblem(answer: LightMyRequestResponse, code: ErrorCode): Node {
  expect(answer.json(), answer.body).toMatchObject({
    type: `urn:ysearch-streams:error:${code}`,
    title: ERRORS[code].title,
    status: statusOf(code),
    code,
    remedy: ERRORS[code].remedy,
    instance: `urn:uuid:${String(answer.headers["x-request-id"])}`,
    requestId: answer.headers["x-request-id"],
  });
  expect(answer.statusCode).toBe(statusOf(code));
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers["cache-control"]).toBe("no-store");
  if (answer.statusCode === 503) expect(answer.headers["retry-after"]).toBe("2");
  if (answer.statusCode === 401) expect(answer.headers["www-authenticate"]).toMatch(/^Bearer /);
  return answer.json<Node>();
}
