import { type Socket, connect } from "node:net";
import type { App } from "../../../routes/index.ts";

/** One answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Listens on a free port of loopback and gives it. */
export async function listen(app: App): Promise<number> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the app does not listen on a port");
  return address.port;
}

/**
 * Sends bytes and collects what comes back until the server closes. `cut` ends the sending side after them, as a client
 * that goes away in the middle. Fails after 10 s.
 */
export function exchange(port: number, bytes: string | Buffer, cut?: "cut"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, "127.0.0.1");
    let text = "";
    const finish = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(10_000, () => {
      socket.destroy();
      reject(new Error(`no end after 10 s: ${text}`));
    });
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    socket.on("error", reject);
    socket.on("close", finish);
    socket.on("connect", () => (cut === undefined ? socket.write(bytes) : socket.end(bytes)));
  });
}

/** Reads one answer with a Content-Length. Throws when it is none, or more than one. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = text.slice(end + 4);
  const length = headers.get("content-length");
  if (end < 0 || Number.isNaN(status) || (length !== undefined && Number(length) !== Buffer.byteLength(body))) {
    throw new Error(`not one whole answer: ${JSON.stringify(text)}`);
  }
  return { status, headers, body };
}

/** Sends one request line with these header lines, asks to close, and reads the one answer. */
export async function request(
  port: number,
  line: string,
  headers: readonly string[] = ["Host: localhost"],
): Promise<RawAnswer> {
  return parseAnswer(await exchange(port, `${[line, ...headers, "Connection: close"].join("\r\n")}\r\n\r\n`));
}
