import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cli } from "./support.ts";

let server: Server;
let base: string;
let asked: { readonly method: string | undefined; readonly url: string | undefined; readonly body: string }[];
/** Answers to the order, and to one look after the other; the last stays. */
let order: { status: number; body: unknown };
let looks: unknown[];

const merging = (phase: string, cells: number) => ({
  owner: "b",
  state: "merging",
  merge: { phase, cells, bytes: cells * 10, expectedBytes: 100 },
});

beforeEach(async () => {
  asked = [];
  order = { status: 202, body: merging("copy", 0) };
  looks = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url } = request;
      asked.push({ method, url, body: Buffer.concat(chunks).toString() });
      response.setHeader("content-type", "application/json");
      response.statusCode = method === "POST" ? order.status : 200;
      const look = looks.length > 1 ? looks.shift() : looks[0];
      response.end(JSON.stringify(method === "POST" ? order.body : { owners: [{ owner: "a", state: "up" }, look] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  base = `http://127.0.0.1:${address.port}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const repair = (...more: string[]) =>
  cli(["kv", "repair", "--owner", "b", "--reason", "new disk", "--url", base, ...more]);

test("orders the repair and follows it until the owner counts", async () => {
  looks = [merging("copy", 4), merging("copy", 4), merging("check", 9), { owner: "b", state: "up" }];
  const { code, out, err } = await repair();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(asked[0]).toMatchObject({ method: "POST", url: "/v1/kv/owners/b/repair" });
  expect(JSON.parse(asked[0]?.body ?? "")).toEqual({ reason: "new disk" });
  expect(out.trimEnd().split("\n")).toEqual([
    "owner b: copy, 4 cells, 40 of about 100 bytes",
    "owner b: check, 9 cells, 90 of about 100 bytes",
    "owner b: up",
  ]);
});

test("says why the owner went down meanwhile, and fails", async () => {
  looks = [{ owner: "b", state: "down", reason: { code: "OWNER_DISK_FULL", text: "no room" } }];
  expect(await repair()).toMatchObject({ code: 1, out: "owner b: down (OWNER_DISK_FULL: no room)\n" });
});

test("passes on what an operator accepts, and what the service refuses", async () => {
  order = { status: 409, body: { code: "KV_REPAIR_REFUSED", detail: "owner b is up", remedy: "none" } };
  const { code, err } = await repair("--accept-loss");
  expect(code).toBe(1);
  expect(err).toBe("POST was answered 409: KV_REPAIR_REFUSED; owner b is up; none\n");
  expect(JSON.parse(asked[0]?.body ?? "")).toEqual({ reason: "new disk", acceptLoss: true });
});

test("with two owners lost it says what --accept-loss is for, and only then", async () => {
  order = { status: 409, body: { code: "KV_REPAIR_REFUSED", detail: "1 of them are up", remedy: "none" } };
  looks = [{ owner: "c", state: "lost" }];
  expect((await repair()).err).toMatch(/1 of them are up[^]*--accept-loss/);
  expect((await repair("--accept-loss")).err).not.toContain("--accept-loss");
  looks = [{ owner: "c", state: "up" }];
  expect((await repair()).err).not.toContain("--accept-loss");
});

test.each([
  [["kv"], 'unknown command "kv"'],
  [["kv", "repiar"], "did you mean kv repair?"],
  [["kv", "repair", "--url", "http://x"], "kv repair needs --owner and --reason"],
  [["kv", "repair", "--owner", "b", "--reason", "r"], "kv repair needs --url"],
  [["kv", "repair", "b"], 'unexpected "b" after kv repair'],
])("%j is a usage fault", async (argv, text) => {
  const { code, err } = await cli(argv);
  expect(code).toBe(2);
  expect(err).toContain(text);
});
