import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, buildApp } from "../../routes/index.ts";
import { createAccess } from "../../src/access/index.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { FakeControlPlane } from "./support/fake-control-plane.ts";
import { exchange, listen, parseAnswer, request, type RawAnswer } from "./support/raw-socket.ts";
import { type LogLine, recordingLogger } from "./support/recording-logger.ts";
import { testApp } from "./support/app.ts";

let app: App;
let port: number;
const plane = new FakeControlPlane();
const log: LogLine[] = [];

beforeAll(async () => {
  app = await buildApp({
    controlPlane: plane,
    access: createAccess([]),
    logger: recordingLogger(log),
    clock: new ManualClock(),
    release: "1.2.3",
    limits: { headerBytes: 8_192 },
  });
  port = await listen(app);
});
afterAll(() => app.close());

function problemOf(answer: RawAnswer, status: number, code: string): Record<string, unknown> {
  expect(answer.status, answer.body).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  const problem: Record<string, unknown> = JSON.parse(answer.body);
  expect(problem).toMatchObject({ status, code, requestId: answer.headers.get("x-request-id") });
  return problem;
}

describe("what HTTP clients rewrite before they send it", () => {
  test.each([
    ["%2e%2e", ".."],
    ["..", ".."],
    [".", "."],
    ["%2E", "."],
    ["..%2f..%2fetc", "../../etc"],
    ["a%2Fb", "a/b"],
    ["a%252Fb", "a%2Fb"],
    ["a%00b", "a\0b"],
    ["a%0Ab", "a\nb"],
    ["a%0d%0ab", "a\r\nb"],
    ["%3fx=1", "?x=1"],
    ["%23", "#"],
    ["a;b", "a;b"],
    ["a+b", "a+b"],
    ["a\\b", "a\\b"],
  ])("the id %s is the document %j", async (sent, id) => {
    plane.reset();
    const answer = await request(port, `GET /v1/documents/articles/${sent} HTTP/1.1`);
    expect(answer.status, answer.body).toBe(200);
    expect(JSON.parse(answer.body).id).toBe(id);
    expect(plane.read).toEqual([{ namespace: "articles", id }]);
  });

  test.each(["%2e%2e", "..", "%2e", "a%2f..", "articles%2fdefinition", "a%00", "a%0a"])(
    "the source %s is refused",
    async (name) => {
      problemOf(await request(port, `GET /v1/sources/${name} HTTP/1.1`), 400, "REQUEST_MALFORMED");
    },
  );

  test("dots lead nowhere: a path is never shortened", async () => {
    problemOf(await request(port, "GET /v1/sources/../lag HTTP/1.1"), 400, "REQUEST_MALFORMED");
    problemOf(await request(port, "GET /v1/x/%2e%2e/lag HTTP/1.1"), 404, "ROUTE_UNKNOWN");
  });

  test("an id of 512 three-times-encoded bytes passes, 513 do not", async () => {
    expect((await request(port, `GET /v1/documents/articles/${"%61".repeat(512)} HTTP/1.1`)).status).toBe(200);
    expect(
      (await request(port, `GET /v1/documents/articles/${"%61".repeat(513)} HTTP/1.1`)).status,
    ).toBeGreaterThanOrEqual(400);
  });

  test("bytes that are not ASCII must be percent-encoded", async () => {
    plane.reset();
    const raw = Buffer.from(
      "GET /v1/documents/articles/é HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
      "utf8",
    );
    problemOf(parseAnswer(await exchange(port, raw)), 400, "REQUEST_MALFORMED");
    expect(plane.read).toEqual([]);
  });

  test("a fragment is no part of a request", async () => {
    problemOf(await request(port, "GET /v1/lag#x HTTP/1.1"), 400, "REQUEST_MALFORMED");
  });

  test("bad percent-encoding is a problem, not the framework's text", async () => {
    const problem = problemOf(await request(port, "GET /v1/sources/%zz HTTP/1.1"), 400, "REQUEST_MALFORMED");
    expect(problem["detail"]).toContain("percent-encoding");
  });
});

describe("requests that are not HTTP", () => {
  test.each([
    ["garbage", "hello\r\n\r\n"],
    ["an unknown method", "BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a header without a colon", "GET / HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n"],
    [
      "both lengths",
      "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["two lengths", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"],
    ["a negative length", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"],
    ["a TLS hello", Buffer.from("16030100a5010000a10303", "hex")],
  ])("%s is a problem and the end of the connection", async (_name, bytes) => {
    const answer = parseAnswer(await exchange(port, bytes));
    problemOf(answer, 400, "REQUEST_MALFORMED");
    expect(answer.headers.get("connection")).toBe("close");
  });

  test("headers above the limit are 431", async () => {
    const answer = parseAnswer(
      await exchange(port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(9_000)}\r\n\r\n`),
    );
    problemOf(answer, 431, "HEADERS_TOO_LARGE");
  });

  test("CONNECT and strange expectations are problems", async () => {
    const connected = await exchange(port, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n");
    problemOf(parseAnswer(connected), 405, "METHOD_NOT_ALLOWED");
    problemOf(await request(port, "GET / HTTP/1.1", ["Host: localhost", "Expect: 200-ok"]), 417, "EXPECTATION_UNKNOWN");
  });

  test("after all of that the service answers", async () => {
    expect((await request(port, "GET /livez HTTP/1.1")).status).toBe(200);
  });
});

describe("hosts", () => {
  test("HTTP/1.1 without a host is 400, HTTP/1.0 is a probe's", async () => {
    problemOf(await request(port, "GET /livez HTTP/1.1", []), 400, "REQUEST_MALFORMED");
    expect((await request(port, "GET /livez HTTP/1.0", [])).status).toBe(200);
  });

  test("two hosts are 400, an empty one is none of this machine", async () => {
    problemOf(
      await request(port, "GET /livez HTTP/1.1", ["Host: localhost", "Host: evil.example"]),
      400,
      "REQUEST_MALFORMED",
    );
    problemOf(await request(port, "GET /livez HTTP/1.1", ["Host: "]), 403, "HOST_REFUSED");
  });

  test("an absolute address counts before the Host header", async () => {
    expect((await request(port, "GET http://localhost/v1/lag HTTP/1.1", ["Host: localhost"])).status).toBe(200);
    problemOf(await request(port, "GET http://evil.example/v1/lag HTTP/1.1"), 403, "HOST_REFUSED");
    problemOf(await request(port, "GET http://localhost/v1/lag?x=1 HTTP/1.1"), 400, "REQUEST_UNKNOWN_FIELD");
  });

  test.each(["Authorization: Bearer x", 'If-Match: "a"', "Content-Type: application/json"])(
    "%s twice is 400",
    async (line) => {
      problemOf(await request(port, "GET /livez HTTP/1.1", ["Host: localhost", line, line]), 400, "REQUEST_MALFORMED");
    },
  );

  test("OPTIONS * is no resource", async () => {
    problemOf(await request(port, "OPTIONS * HTTP/1.1"), 404, "ROUTE_UNKNOWN");
  });
});

describe("bodies on the wire", () => {
  const PUT = "PUT /v1/sources/articles/definition HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  test("a body where none is taken ends the connection, so that it is not read as a request", async () => {
    const smuggled = "GET /v1/sources HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const text = await exchange(
      port,
      `GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${smuggled.length + 10}\r\n\r\n${smuggled}`,
    );
    const answer = parseAnswer(text);
    problemOf(answer, 400, "REQUEST_MALFORMED");
    expect(answer.headers.get("connection")).toBe("close");
  });

  test("a body that is cut off is no change", async () => {
    plane.reset();
    const text = await exchange(port, `${PUT}Content-Length: 100\r\nIf-Match: "tag-1"\r\n\r\n{"name"`, "cut");
    expect(text).toBe("");
    expect(plane.defined).toEqual([]);
    expect((await request(port, "GET /livez HTTP/1.1")).status).toBe(200);
  });

  test("a chunked body above the limit is 413", async () => {
    const small = await testApp({ limits: { requestBodyBytes: 10 } });
    const smallPort = await listen(small.app);
    const text = await exchange(
      smallPort,
      `${PUT}If-Match: "tag-1"\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{"name":"articles12}\r\n`,
    );
    const answer = parseAnswer(text);
    problemOf(answer, 413, "BODY_TOO_LARGE");
    expect(answer.headers.get("connection")).toBe("close");
  });
});

describe("connections", () => {
  test("a refused request leaves the connection open for the next", async () => {
    const text = await exchange(
      port,
      "GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toMatch(/HTTP\/1\.1 200 OK/);
  });

  test("headers that do not come in time are 408", async () => {
    const slow = await testApp({ limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 } });
    const slowPort = await listen(slow.app);
    const answer = parseAnswer(await exchange(slowPort, "GET /livez HTTP/1.1\r\nHost: loc"));
    problemOf(answer, 408, "REQUEST_TOO_SLOW");
  }, 15_000);

  test("answers that wait leave room: above their limit a wait is 429, and who asks whether the process lives is answered", async () => {
    const few = await testApp({ limits: { connectionsMax: 6, waitsMax: 3 } });
    const fewPort = await listen(few.app);
    const wait = "GET /v1/sources/articles/barriers/7?wait=20 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const waiting = Array.from({ length: 3 }, () => connect(fewPort, "127.0.0.1"));
    for (const socket of waiting) socket.write(wait);
    await expect.poll(() => few.plane.barriers.waits.length).toBe(3);
    const refused = await request(fewPort, "GET /v1/sources/articles/barriers/7?wait=1 HTTP/1.1");
    problemOf(refused, 429, "WAITS_TOO_MANY");
    expect(refused.headers.get("retry-after")).toBe("2");
    expect((await request(fewPort, "GET /v1/sources/articles/barriers/7 HTTP/1.1")).status).toBe(200);
    expect((await request(fewPort, "GET /livez HTTP/1.1")).status).toBe(200);
    waiting[0]?.destroy();
    await expect.poll(() => few.plane.barriers.waits[0]?.signal.aborted).toBe(true);
    const last = connect(fewPort, "127.0.0.1");
    last.write(wait);
    await expect.poll(() => few.plane.barriers.waits.filter(({ waitMs }) => waitMs > 0).length).toBe(4);
    for (const socket of [...waiting, last]) socket.destroy();
  });

  test("waits are at most half of the connections", async () => {
    await expect(testApp({ limits: { connectionsMax: 6, waitsMax: 4 } })).rejects.toThrow(/waitsMax 4 is above half/);
  });

  test("idle connections do not keep others out: the one that has been idle longest makes room", async () => {
    const few = await testApp({ limits: { connectionsMax: 4 } });
    const fewPort = await listen(few.app);
    const ask = async (socket: Socket) => {
      socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
    };
    const idle = Array.from({ length: 3 }, () => connect(fewPort, "127.0.0.1"));
    for (const socket of idle) {
      socket.on("error", () => undefined);
      await ask(socket);
    }
    // The first has just been used again: the second is the one that waits longest.
    const [first, second, third] = idle;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three");
    await ask(first);
    const ended = once(second, "close");
    expect((await request(fewPort, "GET /livez HTTP/1.1")).status).toBe(200);
    await ended;
    for (let more = 0; more < 10; more += 1) {
      expect((await request(fewPort, "GET /livez HTTP/1.1")).status).toBe(200);
    }
    await ask(first);
    await ask(third);
    first.destroy();
    third.destroy();
  });

  test("connections above the limit are closed and logged, once a minute with their number", async () => {
    const clock = new ManualClock();
    const few = await testApp({ limits: { connectionsMax: 1 }, clock });
    const fewPort = await listen(few.app);
    const accepted = once(few.app.server, "connection");
    const held = connect(fewPort, "127.0.0.1");
    await accepted;
    await expect(request(fewPort, "GET /livez HTTP/1.1")).rejects.toThrow(/not one whole answer|ECONNRESET/);
    const refused = () => expect(request(fewPort, "GET /livez HTTP/1.1")).rejects.toThrow(/not one whole|ECONNRESET/);
    for (let more = 0; more < 5; more += 1) await refused();
    const lines = () => few.log.filter(({ message }) => message.includes("too many are open"));
    expect(lines()).toHaveLength(1);
    await clock.advance(60_000);
    await refused();
    expect(lines()[1]?.fields).toMatchObject({ repeated: 5 });
    held.destroy();
    await once(held, "close");
    await expect.poll(async () => (await request(fewPort, "GET /livez HTTP/1.1")).status).toBe(200);
  });
});

describe("a client that goes away while it sends its body", () => {
  test.each(["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])(
    "is no fault of ours: %j",
    async (rest) => {
      log.length = 0;
      const arrived = once(app.server, "request");
      const socket = connect(port, "127.0.0.1");
      socket.write(
        `PUT /v1/sources/articles/pause HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${rest}`,
      );
      await arrived;
      socket.resetAndDestroy();
      await expect.poll(() => log.filter(({ message }) => message === "a request was refused")).toHaveLength(1);
      expect(log.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
    },
  );
});
