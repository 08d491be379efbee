import type { FromOwner } from "./protocol.ts";

/** An owner went down while it had a request. Never leaves the plane: there it is one owner less. */
export class OwnerDown extends Error {}

interface PendingWrite {
  readonly seq: number;
  readonly bytes: number;
  readonly flushed: () => void;
}

/** An owner's answer. */
export interface Answer {
  readonly message: FromOwner;
  readonly body: Buffer;
}

interface PendingRequest {
  readonly answered: (answer: Answer) => void;
  readonly lost: (error: OwnerDown) => void;
}

/** Number of the one request, opening or closing, that is answered without naming it. */
export const UNNAMED = 0;

/** What an owner was asked and has not answered: writes, which are flushed in the order they were sent, and requests. */
export class PendingWork {
  readonly #requests = new Map<number, PendingRequest>();
  #writes: PendingWrite[] = [];
  #bytes = 0;
  #lastId = UNNAMED;
  #idlers: (() => void)[] = [];

  /** Bytes of the writes. */
  get bytes(): number {
    return this.#bytes;
  }

  get idle(): boolean {
    return this.#writes.length === 0 && this.#requests.size === 0;
  }

  /** Notes a write of `bytes`; returns its number. `flushed` is called unless {@link fail} comes first. */
  write(bytes: number, flushed: () => void): number {
    this.#lastId += 1;
    this.#writes.push({ seq: this.#lastId, bytes, flushed });
    this.#bytes += bytes;
    return this.#lastId;
  }

  /** Notes a request, hands its number to `send`, and waits for the answer. @throws OwnerDown after {@link fail} */
  request(send: (id: number) => void): Promise<Answer> {
    this.#lastId += 1;
    return this.#await(this.#lastId, send);
  }

  /** As {@link request}, for the one that has no number. */
  unnamed(send: () => void): Promise<Answer> {
    return this.#await(UNNAMED, send);
  }

  /** Every write up to number `through` is flushed. */
  flushed(through: number): void {
    const first = this.#writes.findIndex((write) => write.seq > through);
    const done = this.#writes.splice(0, first < 0 ? this.#writes.length : first);
    for (const write of done) this.#bytes -= write.bytes;
    for (const write of done) write.flushed();
    this.#settleIdlers();
  }

  /** The answer to request `id`. */
  answered(id: number, message: FromOwner, body: Buffer): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    request?.answered({ message, body });
    this.#settleIdlers();
  }

  /** Nothing is answered any more: writes are forgotten, requests fail. */
  fail(text: string): void {
    const requests = [...this.#requests.values()];
    this.#requests.clear();
    this.#writes = [];
    this.#bytes = 0;
    for (const request of requests) request.lost(new OwnerDown(text));
    this.#settleIdlers();
  }

  /** Resolves when everything is answered or has failed. */
  async whenIdle(): Promise<void> {
    if (!this.idle) await new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  #await(id: number, send: (id: number) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#requests.set(id, { answered: resolve, lost: reject });
      send(id);
    });
  }

  #settleIdlers(): void {
    if (!this.idle) return;
    for (const settle of this.#idlers.splice(0)) settle();
  }
}
