import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, get, request as httpRequest } from "node:http";
import { get as getSecure } from "node:https";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_HTTP_LIMITS, completeLimits } from "../../routes/limits.ts";
import { testApp } from "./support/app.ts";
import { exchange, listen, parseAnswer } from "./support/raw-socket.ts";

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
}

async function read(response: IncomingMessage): Promise<Answer> {
  let body = "";
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, connection: response.headers.connection, body };
}

function fetchPath(port: number, path: string, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path, agent }, (response) => resolve(read(response))).on("error", reject);
  });
}

describe("limits", () => {
  test("the defaults hold, and an override replaces one", () => {
    expect(completeLimits({})).toEqual(DEFAULT_HTTP_LIMITS);
    expect(completeLimits({ connectionsMax: 7 })).toEqual({ ...DEFAULT_HTTP_LIMITS, connectionsMax: 7, waitsMax: 4 });
  });

  test.each([
    { requestBodyBytes: 0 },
    { connectionsMax: -1 },
    { answerTimeoutMs: 1.5 },
    { requestBodyDepth: Number.NaN },
    { headersTimeoutMs: 40_000 },
    { requestTimeoutMs: 10_000 },
  ])("%j cannot hold", (given) => {
    expect(() => completeLimits(given)).toThrow(RangeError);
  });

  test("every server of the app has them", async () => {
    const { app } = await testApp({ limits: { connectionsMax: 9, keepAliveTimeoutMs: 1_234 } });
    expect(app.server.maxConnections).toBe(9);
    expect(app.server.requestTimeout).toBe(DEFAULT_HTTP_LIMITS.requestTimeoutMs);
    expect(app.server.headersTimeout).toBe(DEFAULT_HTTP_LIMITS.headersTimeoutMs);
    expect(app.server.keepAliveTimeout).toBe(1_234);
  });
});

describe("closing", () => {
  test("waits for the answer under way and then refuses connections", async () => {
    const { app, plane } = await testApp({});
    const port = await listen(app);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    let release: () => void = () => undefined;
    plane.wait = new Promise((resolve) => (release = resolve));
    const slow = fetchPath(port, "/v1/documents/articles/17", agent);
    await expect.poll(() => plane.read.length).toBe(1);
    const closed = app.close();
    await expect.poll(() => app.server.listening).toBe(false);
    await expect(exchange(port, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")).rejects.toThrow(/ECONNREFUSED/);
    release();
    expect(await slow).toMatchObject({ status: 200, connection: "close" });
    await closed;
  });
});

describe("closing with connections that send nothing more", () => {
  test.each([
    ["nothing at all", ""],
    ["half of a request", "GET /livez HTTP/1.1\r\nHost: loc"],
    ["one request", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["one request and half of the next", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /li"],
  ])("%s", async (_name, bytes) => {
    const { app } = await testApp({});
    const port = await listen(app);
    const accepted = once(app.server, "connection");
    const text = exchange(port, bytes);
    await accepted;
    // On the same thread of the server, a later connection's answer says that the earlier one's bytes were read.
    await exchange(port, "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const started = performance.now();
    await app.close();
    expect(performance.now() - started).toBeLessThan(3_000);
    expect((await text.catch(() => "")).match(/"alive"/g) ?? []).toHaveLength(bytes.includes("\r\n\r\n") ? 1 : 0);
  });
});

describe("localhost", () => {
  test("both address families answer broken requests as problems", async () => {
    const { app } = await testApp({});
    await app.listen({ host: "localhost", port: 0 });
    for (const bound of app.addresses()) {
      if (typeof bound === "string") throw new Error("the app listens on a path");
      const { address, port } = bound;
      const answer = await new Promise<Answer>((resolve, reject) => {
        const sent = httpRequest(
          { host: address, port, path: "/livez", headers: { "x-long": "a".repeat(20_000) } },
          (response) => resolve(read(response)),
        );
        sent.on("error", reject);
        sent.end();
      });
      expect(answer.status, address).toBe(431);
      expect(JSON.parse(answer.body)).toMatchObject({ code: "HEADERS_TOO_LARGE" });
    }
  });
});

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("TLS", () => {
  test.skipIf(!hasOpenssl())("the same service, and plain HTTP on its port is no answer", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [keyPath, certPath] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const files = ["-keyout", keyPath, "-out", certPath];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    await promisify(execFile)("openssl", ["req", "-x509", ...kind, ...files, ...subject]);
    const [key, cert] = [await readFile(keyPath), await readFile(certPath)];
    const { app } = await testApp({ https: { key, cert } });
    const port = await listen(app);
    const answer = await new Promise<Answer>((resolve, reject) => {
      getSecure({ port, host: "127.0.0.1", path: "/readyz", ca: cert, agent: false }, (response) =>
        resolve(read(response)),
      ).on("error", reject);
    });
    expect(answer).toMatchObject({ status: 200, body: '{"status":"ready","phase":"serving","kv":"up"}' });
    expect(app.server.maxConnections).toBe(DEFAULT_HTTP_LIMITS.connectionsMax);
    const plain = exchange(port, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").catch(() => "");
    expect(() => parseAnswer("")).toThrow(/not one whole answer/);
    expect(await plain).not.toContain('ready"');
  });
});
