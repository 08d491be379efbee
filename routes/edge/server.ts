import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse, createServer } from "node:http";
import { type ServerOptions as TlsOptions, createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger, FastifyServerFactory } from "fastify";
import { Repeats } from "../../src/core/repeats.ts";
import { StreamsError } from "../../src/errors.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { CONNECTION_CHECK_MS, type HttpLimits } from "../limits.ts";
import type { Connections } from "./connections.ts";
import { type ProblemReply, problemReply } from "./problem-document.ts";
import { malformed } from "./refusals.ts";

/** What the servers of one app share. */
interface EdgeOfServer {
  readonly logger: FastifyBaseLogger;
  readonly clock: Clock;
  readonly https?: TlsOptions;
}

/**
 * Makes the HTTP servers. A factory, because Fastify makes a second server when it listens on `localhost` (one per address
 * family) and sets time-outs and the handler of broken requests on the first alone.
 */
export function serverFactory(
  limits: HttpLimits,
  { logger, clock, https: tls }: EdgeOfServer,
  connections: Connections,
): FastifyServerFactory {
  const repeats = new Repeats();
  const options = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CONNECTION_CHECK_MS,
    // Answered by the gate, as a problem: Node would send an empty 400.
    requireHostHeader: false,
  };
  return (handler) => {
    const server: Server =
      tls === undefined
        ? createServer(options, handler)
        : createTlsServer({ ...tls, ...options, handshakeTimeout: limits.headersTimeoutMs }, handler);
    server.maxConnections = limits.connectionsMax;
    connections.watch(server, tls !== undefined);
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
      // An answer may be on its way: a second status line in the middle of it would be read as its body.
      if (connections.isBusy(socket)) socket.destroy();
      else answerBrokenRequest(error, socket, logger);
    });
    server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      send(
        socket,
        reply(
          new StreamsError("METHOD_NOT_ALLOWED", "CONNECT is not a method of any resource", { allow: ["GET", "HEAD"] }),
        ),
      );
    });
    server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
      const { status, headers, body } = reply(new StreamsError("EXPECTATION_UNKNOWN", "only 100-continue is known"));
      response.writeHead(status, { ...headers, connection: "close", "content-length": body.length }).end(body);
    });
    server.on("drop", () => {
      const repeated = repeats.note("drop", clock.monotonic());
      if (repeated === undefined) return;
      const fields = { connectionsMax: limits.connectionsMax, ...(repeated === 0 ? {} : { repeated }) };
      logger.warn(fields, "a connection was closed: too many are open");
    });
    return server;
  };
}

/** Answers what Node could not read as HTTP. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, logger: FastifyBaseLogger): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const failure = brokenRequest(error.code);
  const answer = reply(failure);
  logger.debug(
    { code: failure.code, cause: error.code, requestId: answer.headers["x-request-id"] },
    "a request could not be read",
  );
  send(socket, answer);
}

function brokenRequest(code: string | undefined): StreamsError {
  if (code === "HPE_HEADER_OVERFLOW")
    return new StreamsError("HEADERS_TOO_LARGE", "the request line and headers are too large");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new StreamsError("REQUEST_TOO_SLOW", "the request did not arrive in time");
  return malformed("address", "", "the request is not HTTP");
}

function reply(failure: StreamsError): ProblemReply {
  return problemReply(failure, randomUUID());
}

function send(socket: Duplex, { status, headers, body }: ProblemReply): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const lines = Object.entries({ ...headers, connection: "close", "content-length": String(body.length) });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]), () => socket.destroy());
}
