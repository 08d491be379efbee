import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { FetchAnswers } from "./fetch-answers.ts";

/** What a proxy does with the bytes that pass. `blackhole`: takes everything, forwards nothing, says nothing. */
export type ProxyMode =
  | { readonly mode: "forward" }
  | { readonly mode: "delay"; readonly ms: number }
  | { readonly mode: "blackhole" };

/**
 * A TCP proxy on 127.0.0.1 in front of one address, to be made slow, deaf or absent. A broker behind it has to advertise
 * the proxy's address, or clients go around it.
 */
export class TcpProxy {
  readonly #target: number;
  readonly #port: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #server: Server | undefined;
  #mode: ProxyMode = { mode: "forward" };
  /** Partitions whose fetches are answered as out of range, whatever the broker says. */
  outOfRange: ReadonlySet<number> = new Set();
  /** Connections taken so far. */
  connections = 0;
  /** Bytes that clients have sent so far. */
  sentBytes = 0;

  constructor(port: number, target: number) {
    this.#port = port;
    this.#target = target;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Changes what happens to bytes from now on, of open connections too. */
  set(mode: ProxyMode): void {
    this.#mode = mode;
  }

  /** Cuts every open connection. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** Takes connections. */
  async open(): Promise<this> {
    const server = createServer((client) => this.#take(client));
    this.#server = server;
    server.listen({ port: this.#port, host: "127.0.0.1" });
    await once(server, "listening");
    return this;
  }

  /** Cuts every connection and refuses new ones, until it is opened again. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    this.cut();
    await closed;
  }

  #take(client: Socket): void {
    this.connections += 1;
    const broker = connect({ port: this.#target, host: "127.0.0.1" });
    const pair = [client, broker] as const;
    this.#pairs.add(pair);
    const answers = new FetchAnswers(() => this.outOfRange);
    this.#pipe(client, broker, (bytes) => {
      this.sentBytes += bytes.length;
      answers.asked(bytes);
      return bytes;
    });
    this.#pipe(broker, client, (bytes) => answers.answered(bytes));
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.#pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
  }

  #pipe(from: Socket, to: Socket, pass: (bytes: Buffer) => Buffer): void {
    from.on("data", (given) => {
      const bytes = pass(given);
      const mode = this.#mode;
      if (mode.mode === "blackhole") return;
      if (mode.mode === "forward") to.write(bytes);
      else setTimeout(() => !to.destroyed && to.write(bytes), mode.ms);
    });
  }
}
