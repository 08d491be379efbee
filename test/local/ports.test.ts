import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

import { expect, test } from "vitest";

import { freePorts, isPortFree } from "../../local/broker/ports.ts";

test("a port that somebody listens on is not free, and is free again afterwards", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await isPortFree(port)).toBe(false);
  server.close();
  await once(server, "close");
  expect(await isPortFree(port)).toBe(true);
});

test("taken ports are passed over, and the answer holds no port twice", async () => {
  const refused: number[] = [];
  const ports = await freePorts(20, async (port) => {
    if (refused.length < 20) refused.push(port);
    return !refused.includes(port);
  });
  expect(new Set(ports).size).toBe(20);
  expect(ports.filter((port) => refused.includes(port))).toEqual([]);
});

test("ports are below those of outgoing connections, which could take one while a broker restarts", async () => {
  const ports = await freePorts(50, async () => true);
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(20_000);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

test("no free port is an error, not an endless search", async () => {
  await expect(freePorts(1, async () => false)).rejects.toThrow(/no 1 free ports/);
});
