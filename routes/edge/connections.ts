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
  readonly #owed = new Map<Duplex, number>();
  #ending = false;

  /** Keeps count of this server's connections. `tls` says which event carries the sockets of its requests. */
  watch(server: Server, tls: boolean): void {
    server.on(tls ? "secureConnection" : "connection", (socket: Duplex) => {
      if (this.#ending) {
        socket.destroy();
        return;
      }
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
    if (owed !== undefined) this.#owed.set(socket, owed + change);
  }
}
