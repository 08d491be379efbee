import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isAlive } from "../../src/cli/healthcheck.ts";

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
});

async function listen(status: number): Promise<number> {
  const started = createServer((request, response) => {
    response.statusCode = request.url === "/livez" ? status : 404;
    response.end();
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  return (started.address() as AddressInfo).port;
}

test.each([
  [200, true],
  [503, false],
])("a service that answers %d is alive: %s", async (status, alive) => {
  const port = await listen(status);
  expect(await isAlive({ host: "127.0.0.1", port })).toBe(alive);
});

test("a service that listens everywhere is asked over loopback", async () => {
  const port = await listen(200);
  expect(await isAlive({ host: "0.0.0.0", port })).toBe(true);
});

test("nobody listening is not alive", async () => {
  expect(await isAlive({ host: "127.0.0.1", port: 1 })).toBe(false);
});
