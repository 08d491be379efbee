import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ISocketFactoryArgs } from "kafkajs";
import type { Clock } from "../../../src/ports/clock.ts";

const KEEP_ALIVE_MS = 15_000;

/**
 * Opens the sockets of one kafkajs client and can shut them all, for good.
 *
 * kafkajs itself never closes a connection whose request timed out, and a consumer that is stopped while it joins comes
 * alive when the join completes. So a socket that owes an answer for `stallMs` is destroyed with an error (kafkajs does
 * not listen for `close`), and after {@link close} nothing of this client can reach a broker any more.
 */
export class SocketGate {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #sockets = new Set<Socket>();
  #closed = false;

  constructor(clock: Clock, stallMs: number) {
    this.#clock = clock;
    this.#stallMs = stallMs;
  }

  /** kafkajs' `socketFactory`. @throws Error once closed. */
  readonly open = ({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket => {
    if (this.#closed) throw new Error("this client is closed");
    // kafkajs passes null for no TLS, whatever its types say; a server name must not be an address.
    const tls: unknown = ssl;
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket =
      typeof tls === "object" && tls !== null
        ? connectTls({ host, port, ...named, ...ssl }, onConnect)
        : connectPlain({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    // kafkajs listens too, but not for ever: an error without a listener would end the process.
    socket.on("error", () => undefined);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#watch(socket);
    return socket;
  };

  /** Destroys every socket and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy(new Error("this client is closed"));
  }

  #watch(socket: Socket): void {
    let answered = 0;
    let since = this.#clock.monotonic();
    socket.on("data", () => {
      answered = socket.bytesWritten;
      since = this.#clock.monotonic();
    });
    const check = (): void => {
      if (socket.destroyed) return;
      const owes = socket.bytesWritten > answered;
      if (!owes) since = this.#clock.monotonic();
      if (owes && this.#clock.monotonic() - since >= this.#stallMs) {
        socket.destroy(new Error(`no answer for ${this.#stallMs} ms`));
        return;
      }
      cancel = this.#clock.after(this.#stallMs / 4, check);
    };
    let cancel = this.#clock.after(this.#stallMs / 4, check);
    socket.once("close", () => cancel());
  }
}
