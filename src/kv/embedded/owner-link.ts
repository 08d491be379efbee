import type { Clock } from "../../ports/clock.ts";
import type { OwnerStatus } from "../../ports/kv-plane.ts";
import { splitAnswers } from "./answers.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import type { Identity, OwnerName } from "./identity.ts";
import type { OwnerThread, SpawnOwner } from "./owner-thread.ts";
import { OwnerDown, PendingWork, UNNAMED } from "./pending.ts";
import type { FromOwner, KeyRange, OwnerReason, OwnerSetup, ToOwner } from "./protocol.ts";
import { type Packed, type StoreAddress, packAddresses } from "./wire.ts";

/** Where an owner stands. Only `up` counts for W and R. */
type Life =
  /** Its directory is being looked at, or its identity written. */
  | { readonly state: "opening" }
  | { readonly state: "up" }
  | { readonly state: "down" | "lost"; readonly reason: OwnerReason };

export interface OwnerLinkOptions {
  readonly setup: OwnerSetup;
  readonly spawn: SpawnOwner;
  readonly pool: ChunkPool;
  readonly clock: Clock;
  /** An owner that answers nothing for this long while work waits is taken down. */
  readonly stallMs: number;
  /** At closing it has this long to finish; what W owners hold is not lost by cutting it short. */
  readonly closeMs: number;
  /** Called after the state changed, or the backlog shrank. */
  readonly onChange: (link: OwnerLink, change: "state" | "backlog") => void;
}

/** Addresses of one read message. */
const READ_KEYS = 4_096;

/** One owner: its state, its thread, and what it was asked and has not answered. */
export class OwnerLink {
  readonly owner: OwnerName;
  readonly #options: OwnerLinkOptions;
  readonly #pending = new PendingWork();
  #life: Life = { state: "opening" };
  #since: number;
  #thread: OwnerThread | undefined;
  #incarnation = "";
  #storedBytes: number | undefined;
  #cancelStall: (() => void) | undefined;

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
    return this.#pending.bytes;
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
      pendingBytes: this.#pending.bytes,
      place: this.directory,
      ...(this.#storedBytes !== undefined && { storedBytes: this.#storedBytes }),
    };
  }

  /** Starts the thread and opens the store, creating it where there is none. @throws OwnerDown */
  async open(): Promise<Identity | undefined> {
    const message = await this.#pending.unnamed(() => this.#start());
    return message.kind === "opened" ? message.identity : undefined;
  }

  /** Writes the identity; flushed when it resolves. @throws OwnerDown */
  async identify(identity: Identity): Promise<void> {
    await this.#request((id) => this.#send({ kind: "identify", id, identity }));
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

  /**
   * Sends packed cells of `bytes`, whose buffers it takes over. `flushed` is called when they are durable; never, when the
   * owner goes down before.
   */
  write(parts: readonly Packed[], bytes: number, flushed: () => void): void {
    const seq = this.#pending.write(bytes, flushed);
    this.#send(
      { kind: "write", seq, parts },
      parts.map((part) => part.buffer),
    );
  }

  /** Stored values by index of `addresses`; undefined is absent. @throws OwnerDown */
  async read(addresses: readonly StoreAddress[]): Promise<(Uint8Array | undefined)[]> {
    const answers: (Uint8Array | undefined)[] = [];
    while (answers.length < addresses.length) {
      const to = Math.min(addresses.length, answers.length + READ_KEYS);
      const packed = packAddresses(addresses, answers.length, to);
      const reply = await this.#request((id) => this.#send({ kind: "read", id, addresses: packed }, [packed]));
      if (reply.kind === "answers") answers.push(...splitAnswers(reply.packed, reply.count));
    }
    return answers;
  }

  /** Store keys of a range, in byte order. @throws OwnerDown */
  async list(range: KeyRange): Promise<{ readonly keys: readonly Uint8Array[]; readonly complete: boolean }> {
    const reply = await this.#request((id) => this.#send({ kind: "list", id, range }));
    return reply.kind === "listed" ? reply : { keys: [], complete: true };
  }

  /** Takes it down for good: what it was asked fails, and its thread ends. */
  takeDown(reason: OwnerReason): void {
    if (this.#life.state === "down") return;
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#endWatch();
    if (this.#life.state !== "lost") this.#become({ state: "down", reason });
    this.#pending.fail(reason.text);
  }

  /** Waits until it has answered everything, closes its store and ends its thread. */
  async close(): Promise<void> {
    const { clock, closeMs } = this.#options;
    const cancel = clock.after(closeMs, () => {
      this.takeDown({ code: "OWNER_STALLED", text: `it did not finish within ${closeMs} ms of closing` });
    });
    await this.#pending.whenIdle();
    if (this.#thread !== undefined) {
      // Going down meanwhile is an end as well.
      await this.#pending.unnamed(() => this.#send({ kind: "close" })).catch(() => undefined);
    }
    cancel();
    this.takeDown({ code: "OWNER_CLOSED", text: "the plane was closed" });
  }

  #start(): void {
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
  }

  #request(send: (id: number) => void): Promise<FromOwner> {
    if (this.#thread === undefined) return Promise.reject(new OwnerDown("the owner is down"));
    return this.#pending.request(send);
  }

  #send(message: ToOwner, transfer: ArrayBuffer[] = []): void {
    this.#thread?.send(message, transfer);
    this.#watch();
  }

  #receive(message: FromOwner): void {
    // What was on its way when the owner was taken down belongs to nobody any more.
    if (this.#thread === undefined) return;
    this.#endWatch();
    switch (message.kind) {
      case "failed":
        this.takeDown(message.reason);
        return;
      case "committed":
        this.#storedBytes = message.storedBytes;
        this.#options.pool.give(message.buffers);
        this.#pending.flushed(message.through);
        this.#options.onChange(this, "backlog");
        break;
      case "opened":
        this.#storedBytes = message.storedBytes;
        this.#pending.answered(UNNAMED, message);
        break;
      case "closed":
        this.#pending.answered(UNNAMED, message);
        break;
      case "answers":
      case "listed":
      case "identified":
        this.#pending.answered(message.id, message);
        break;
    }
    this.#watch();
  }

  /** Makes sure that silence is noticed while something waits, counted anew from each answer. */
  #watch(): void {
    if (this.#cancelStall !== undefined || this.#thread === undefined || this.#pending.idle) return;
    const { clock, stallMs } = this.#options;
    this.#cancelStall = clock.after(stallMs, () => {
      this.#cancelStall = undefined;
      this.takeDown({ code: "OWNER_STALLED", text: `it answered nothing for ${stallMs} ms` });
    });
  }

  #endWatch(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
  }

  #become(life: Life): void {
    this.#life = life;
    this.#since = this.#options.clock.now();
    this.#options.onChange(this, "state");
  }
}
