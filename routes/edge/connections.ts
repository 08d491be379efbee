import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/**
 * The open connections of all servers of one app, with the number of answers that each still owes.
 *
 * Node ends idle connections when a server closes, but counts one that has sent nothing, or half of a request, as not
 * idle; and it stops its own time-outs at that moment. Such a connection would keep a draining process for as long as the
 * client likes: {@link endIdle} ends it.
 */
export class Connections {
  /** The one whose last answer is longest ago comes first. */
  readonly #owed = new Map<Duplex, number>();
  readonly #max: number;
  #ending = false;

  /** `max`: at so many, the one that has been idle longest is ended, so that the next still finds room. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Keeps count of this server's connections. `tls` says which event carries the sockets of its requests. */
  watch(server: Server, tls: boolean): void {
    server.on(tls ? "secureConnection" : "connection", (socket: Duplex) => {
      if (this.#ending) {
        socket.destroy();
        return;
      }
      if (this.#owed.size + 1 >= this.#max) this.#endIdlest();
      this.#owed.set(socket, 0);
      socket.once("close", () => this.#owed.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#add(socket, 1);
      response.once("close", () => this.#add(socket, -1));
    });
  }

  /** Whether an answer is owed on this connection. */
  isBusy(socket: Duplex): boolean {
    return (this.#owed.get(socket) ?? 0) > 0;
  }

  /** Ends every connection that owes no answer, now and from now on. The others end with their answer. */
  endIdle(): void {
    this.#ending = true;
    for (const [socket, owed] of this.#owed) {
      if (owed === 0) socket.destroy();
    }
  }

  #add(socket: Duplex, change: 1 | -1): void {
    const owed = this.#owed.get(socket);
    if (owed === undefined) return;
    if (change === -1) this.#owed.delete(socket);
    this.#owed.set(socket, owed + change);
  }

  #endIdlest(): void {
    for (const [socket, owed] of this.#owed) {
      if (owed > 0) continue;
      this.#owed.delete(socket);
      socket.destroy();
      return;
    }
  }
}
