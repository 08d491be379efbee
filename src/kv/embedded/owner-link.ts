import type { Clock } from "../../ports/clock.ts";
import type { OwnerStatus } from "../../ports/kv-plane.ts";
import { splitAnswers } from "./answers.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import type { Identity, OwnerName } from "./identity.ts";
import type { OwnerThread, SpawnOwner } from "./owner-thread.ts";
import type { FromOwner, KeyRange, OwnerReason, OwnerSetup } from "./protocol.ts";
import { type Packed, type StoreAddress, packAddresses } from "./wire.ts";

/** Where an owner stands. Only `up` counts for W and R. */
type Life =
  /** Its directory is being looked at, or its identity written. */
  | { readonly state: "opening" }
  | { readonly state: "up" }
  | { readonly state: "down" | "lost"; readonly reason: OwnerReason };

/** An owner went down while it had a request. Never leaves the plane: there it is one owner less. */
export class OwnerDown extends Error {}

interface PendingWrite {
  readonly seq: number;
  readonly bytes: number;
  readonly flushed: () => void;
}

interface PendingRequest {
  readonly answered: (message: FromOwner) => void;
  readonly lost: (error: OwnerDown) => void;
}

export interface OwnerLinkOptions {
  readonly setup: OwnerSetup;
  readonly spawn: SpawnOwner;
  readonly pool: ChunkPool;
  readonly clock: Clock;
  /** An owner that answers nothing for this long while work waits is taken down. */
  readonly stallMs: number;
  /** Called after the state changed, or the backlog shrank. */
  readonly onChange: (link: OwnerLink, change: "state" | "backlog") => void;
}

/** Addresses of one read message. */
const READ_KEYS = 4_096;

/** One owner: its state, its thread, and what it was asked and has not answered. */
export class OwnerLink {
  readonly owner: OwnerName;
  readonly #options: OwnerLinkOptions;
  readonly #writes: PendingWrite[] = [];
  readonly #requests = new Map<number, PendingRequest>();
  #life: Life = { state: "opening" };
  #since: number;
  #thread: OwnerThread | undefined;
  #incarnation = "";
  #storedBytes: number | undefined;
  #pendingBytes = 0;
  #nextId = 1;
  #cancelStall: (() => void) | undefined;
  #drained: (() => void)[] = [];

  constructor(owner: OwnerName, options: OwnerLinkOptions) {
    this.owner = owner;
    this.#options = options;
    this.#since = options.clock.now();
  }

  get up(): boolean {
    return this.#life.state === "up";
  }

  /** Whether it has a thread. */
  get running(): boolean {
    return this.#thread !== undefined;
  }

  get directory(): string {
    return this.#options.setup.directory;
  }

  /** Bytes of writes that it was sent and has not flushed. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Why it is not up; undefined when it is. */
  get reason(): OwnerReason | undefined {
    const life = this.#life;
    if (life.state === "up") return undefined;
    if (life.state === "opening") return { code: "OWNER_OPENING", text: "the owner is being opened" };
    return life.reason;
  }

  status(): OwnerStatus {
    const { reason } = this;
    return {
      owner: this.owner,
      state: this.#life.state === "opening" ? "down" : this.#life.state,
      ...(reason !== undefined && { reason }),
      since: this.#since,
      incarnation: this.#incarnation,
      pendingBytes: this.#pendingBytes,
      place: this.#options.setup.directory,
      ...(this.#storedBytes !== undefined && { storedBytes: this.#storedBytes }),
    };
  }

  /** Starts the thread and opens the store, creating it where there is none. @throws OwnerDown */
  async open(): Promise<Identity | undefined> {
    const opened = new Promise<FromOwner>((resolve, reject) => {
      this.#requests.set(0, { answered: resolve, lost: reject });
    });
    const { setup, spawn } = this.#options;
    try {
      this.#thread = spawn(setup, {
        message: (message) => this.#receive(message),
        ended: (cause) => this.takeDown({ code: "OWNER_CRASHED", text: cause }),
      });
      this.#watch();
    } catch (error) {
      this.takeDown({ code: "OWNER_FAILED", text: error instanceof Error ? error.message : String(error) });
    }
    const message = await opened;
    return message.kind === "opened" ? message.identity : undefined;
  }

  /** Writes the identity; flushed when it resolves. @throws OwnerDown */
  async identify(identity: Identity): Promise<void> {
    await this.#request((id) => this.#thread?.send({ kind: "identify", id, identity }, []));
  }

  /** From now on it counts. */
  serve(identity: Identity): void {
    if (this.#life.state !== "opening") return;
    this.#incarnation = identity.incarnations[this.owner];
    this.#become({ state: "up" });
  }

  /** Its data is gone: it counts for nothing until it is restored. */
  markLost(reason: OwnerReason): void {
    if (this.#life.state === "opening") this.#become({ state: "lost", reason });
  }

  /** Sends packed cells, whose buffers it takes over. `flushed` is called when they are durable; never, when it goes down. */
  write(parts: readonly Packed[], bytes: number, flushed: () => void): void {
    const seq = this.#nextId;
    this.#nextId += 1;
    this.#writes.push({ seq, bytes, flushed });
    this.#pendingBytes += bytes;
    this.#thread?.send(
      { kind: "write", seq, parts },
      parts.map((part) => part.buffer),
    );
    this.#watch();
  }

  /** Stored values by index of `addresses`; undefined is absent. @throws OwnerDown */
  async read(addresses: readonly StoreAddress[]): Promise<(Uint8Array | undefined)[]> {
    const answers: (Uint8Array | undefined)[] = [];
    while (answers.length < addresses.length) {
      const to = Math.min(addresses.length, answers.length + READ_KEYS);
      const packed = packAddresses(addresses, answers.length, to);
      const reply = await this.#request((id) => this.#thread?.send({ kind: "read", id, addresses: packed }, [packed]));
      if (reply.kind === "answers") answers.push(...splitAnswers(reply.packed, reply.count));
    }
    return answers;
  }

  /** Store keys of a range, in byte order. @throws OwnerDown */
  async list(range: KeyRange): Promise<{ readonly keys: readonly Uint8Array[]; readonly complete: boolean }> {
    const reply = await this.#request((id) => this.#thread?.send({ kind: "list", id, range }, []));
    return reply.kind === "listed" ? reply : { keys: [], complete: true };
  }

  /** Takes it down for good: what it was asked fails, and its thread ends. */
  takeDown(reason: OwnerReason): void {
    if (this.#life.state === "down") return;
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#cancelStall?.();
    this.#writes.length = 0;
    this.#pendingBytes = 0;
    const requests = [...this.#requests.values()];
    this.#requests.clear();
    if (this.#life.state !== "lost") this.#become({ state: "down", reason });
    for (const request of requests) request.lost(new OwnerDown(reason.text));
    this.#settleDrained();
  }

  /** Waits until it has answered everything, closes its store and ends its thread. */
  async close(): Promise<void> {
    await this.#drain();
    if (this.#thread !== undefined) {
      const closed = new Promise<void>((resolve) => {
        this.#requests.set(0, { answered: () => resolve(), lost: () => resolve() });
      });
      this.#thread.send({ kind: "close" }, []);
      this.#watch();
      await closed;
    }
    this.takeDown({ code: "OWNER_CLOSED", text: "the plane was closed" });
  }

  async #drain(): Promise<void> {
    if (this.#idle()) return;
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  #idle(): boolean {
    return this.#writes.length === 0 && this.#requests.size === 0;
  }

  #settleDrained(): void {
    for (const settle of this.#drained.splice(0)) settle();
  }

  #request(send: (id: number) => void): Promise<FromOwner> {
    return new Promise((resolve, reject) => {
      if (this.#thread === undefined) {
        reject(new OwnerDown("the owner is down"));
        return;
      }
      const id = this.#nextId;
      this.#nextId += 1;
      this.#requests.set(id, { answered: resolve, lost: reject });
      send(id);
      this.#watch();
    });
  }

  #receive(message: FromOwner): void {
    switch (message.kind) {
      case "failed":
        this.takeDown(message.reason);
        return;
      case "committed":
        this.#storedBytes = message.storedBytes;
        this.#options.pool.give(message.buffers);
        this.#flushed(message.through);
        break;
      case "opened":
        this.#storedBytes = message.storedBytes;
        this.#answer(0, message);
        break;
      case "closed":
        this.#answer(0, message);
        break;
      case "answers":
      case "listed":
      case "identified":
        this.#answer(message.id, message);
        break;
    }
    this.#cancelStall?.();
    this.#cancelStall = undefined;
    if (this.#idle()) this.#settleDrained();
    else this.#watch();
  }

  #flushed(through: number): void {
    const upTo = this.#writes.findIndex((write) => write.seq > through);
    const done = this.#writes.splice(0, upTo < 0 ? this.#writes.length : upTo);
    for (const write of done) this.#pendingBytes -= write.bytes;
    for (const write of done) write.flushed();
    this.#options.onChange(this, "backlog");
  }

  #answer(id: number, message: FromOwner): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    request?.answered(message);
  }

  /** Makes sure that silence is noticed, from the first unanswered message on and after each answer anew. */
  #watch(): void {
    if (this.#cancelStall !== undefined || this.#thread === undefined) return;
    const { clock, stallMs } = this.#options;
    this.#cancelStall = clock.after(stallMs, () => {
      this.#cancelStall = undefined;
      if (this.#idle()) return;
      this.takeDown({ code: "OWNER_STALLED", text: `it answered nothing for ${stallMs} ms` });
    });
  }

  #become(life: Life): void {
    this.#life = life;
    this.#since = this.#options.clock.now();
    this.#options.onChange(this, "state");
  }
}
