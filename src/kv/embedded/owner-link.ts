import type { Clock } from "../../ports/clock.ts";
import type { MergeProgress, OwnerComparison, OwnerStatus } from "../../ports/kv-plane.ts";
import type { Identity, OwnerName } from "./identity.ts";
import type { OwnerProcess, SpawnOwner } from "./owner-process.ts";
import { OwnerStore } from "./owner-store.ts";
import { OwnerDown, PendingWork, UNNAMED } from "./pending.ts";
import type { FromOwner, OwnerReason, OwnerSetup, StoreMark, ToOwner } from "./protocol.ts";
import type { Packed } from "./wire.ts";

/** Where an owner stands. Only `up` counts for W and R. */
type Life =
  /** Its directory is being looked at for the first time, or its identity written. */
  | { readonly state: "opening" }
  | { readonly state: "up" }
  /** A new incarnation: it is sent every write, and has not merged both others yet. */
  | { readonly state: "merging" }
  /** It may have a process that looks whether it can come back. */
  | { readonly state: "down" | "lost"; readonly reason: OwnerReason };

export interface OwnerLinkOptions {
  readonly setup: OwnerSetup;
  readonly spawn: SpawnOwner;
  readonly clock: Clock;
  /** An owner that answers nothing for this long while work waits is taken down. */
  readonly stallMs: number;
  /** At closing it has this long to finish; what W owners hold is not lost by cutting it short. */
  readonly closeMs: number;
  /** Called after the state or its reason changed, or the backlog shrank. */
  readonly onChange: (link: OwnerLink, change: "state" | "backlog") => void;
}

/** One owner: its state, its process, and what it was asked and has not answered. */
export class OwnerLink {
  readonly owner: OwnerName;
  /** What it holds. */
  readonly store: OwnerStore;
  readonly #options: OwnerLinkOptions;
  readonly #pending = new PendingWork();
  #life: Life = { state: "opening" };
  #since: number;
  #process: OwnerProcess | undefined;
  #lives = 0;
  #incarnation = "";
  #mark: StoreMark | undefined;
  /** Number of the last transaction that counts on being there when the store is opened again. */
  #flushed = 0;
  #wentBack = false;
  #closed = false;
  #progress: MergeProgress | undefined;
  #compared: OwnerComparison | undefined;
  #cancelStall: (() => void) | undefined;

  constructor(owner: OwnerName, options: OwnerLinkOptions) {
    this.owner = owner;
    this.#options = options;
    this.#since = options.clock.now();
    this.store = new OwnerStore((message, parts) => this.#request(message, parts));
  }

  get up(): boolean {
    return this.#life.state === "up";
  }

  get state(): Life["state"] {
    return this.#life.state;
  }

  /** Whether it is sent every write. */
  get receives(): boolean {
    return this.#life.state === "up" || this.#life.state === "merging";
  }

  /** Whether it has a process. */
  get running(): boolean {
    return this.#process !== undefined;
  }

  /** Which of its processes runs: what one of them was told, the next one may lack. */
  get life(): number {
    return this.#lives;
  }

  /** Whether the store that was opened lacks a transaction that its last process had flushed: an older copy, or damaged. */
  get wentBack(): boolean {
    return this.#wentBack;
  }

  get directory(): string {
    return this.#options.setup.directory;
  }

  get storedBytes(): number {
    return this.#mark?.storedBytes ?? 0;
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
    if (life.state === "merging") return { code: "OWNER_MERGING", text: "a new incarnation that merges both others" };
    return life.reason;
  }

  status(): OwnerStatus {
    const { reason, state } = this;
    return {
      owner: this.owner,
      state: state === "opening" ? "down" : state,
      ...(reason !== undefined && { reason }),
      since: this.#since,
      incarnation: this.#incarnation,
      pendingBytes: this.#pending.bytes,
      place: this.directory,
      ...(this.#mark !== undefined && { storedBytes: this.#mark.storedBytes }),
      ...(state === "merging" && this.#progress !== undefined && { merge: this.#progress }),
      ...(this.#compared !== undefined && { compared: this.#compared }),
    };
  }

  /** Starts the process and opens the store, creating it where there is none; its state stays. @throws OwnerDown */
  async open(): Promise<Identity | undefined> {
    if (this.#closed) throw new OwnerDown("the plane is closed");
    const { message } = await this.#pending.unnamed(() => this.#start());
    return message.kind === "opened" ? message.identity : undefined;
  }

  /** Writes the identity; flushed when it resolves. @throws OwnerDown */
  async identify(identity: Identity): Promise<void> {
    await this.#request((id) => ({ kind: "identify", id, identity }));
  }

  /** From now on it counts. */
  serve(identity: Identity): void {
    if (this.#process === undefined || this.up) return;
    this.#incarnation = identity.membership.incarnations[this.owner];
    this.#progress = undefined;
    this.#flushed = this.#mark?.transaction ?? 0;
    this.#become({ state: "up" });
  }

  /** From now on it is sent every write, and counts for nothing yet. */
  beginMerging(identity: Identity): void {
    if (this.#process === undefined) return;
    this.#incarnation = identity.membership.incarnations[this.owner];
    this.#become({ state: "merging" });
  }

  /** How far merging is. */
  progress(progress: MergeProgress): void {
    this.#progress = progress;
  }

  /** It was compared with the others. */
  compared(comparison: OwnerComparison): void {
    this.#compared = comparison;
  }

  /** Its data is gone: it counts for nothing until it is repaired. */
  markLost(reason: OwnerReason): void {
    this.#end({ state: "lost", reason });
  }

  /** Takes it down: what it was asked fails, and its process ends. */
  takeDown(reason: OwnerReason): void {
    const life = this.#life;
    const staysLost = life.state === "lost" && reason.code === "OWNER_CLOSED";
    this.#end(staysLost ? life : { state: "down", reason });
  }

  /**
   * Sends packed cells of `bytes`. `sent` is called once the buffers are not needed any more; `flushed` when they are
   * durable: never, when the owner goes down before.
   */
  write(parts: readonly Packed[], bytes: number, flushed: () => void, sent: () => void): void {
    const seq = this.#pending.write(bytes, flushed);
    if (parts.length === 0) this.#send({ kind: "write", seq, more: false }, [], sent);
    for (const [index, part] of parts.entries()) {
      const more = index < parts.length - 1;
      this.#send({ kind: "write", seq, more }, [part], more ? undefined : sent);
    }
  }

  /** Waits until it has answered everything, closes its store and ends its process. */
  async close(): Promise<void> {
    const { clock, closeMs } = this.#options;
    this.#closed = true;
    const cancel = clock.after(closeMs, () => {
      this.takeDown({ code: "OWNER_STALLED", text: `it did not finish within ${closeMs} ms of closing` });
    });
    await this.#pending.whenIdle();
    if (this.#process !== undefined) {
      // Going down meanwhile is an end as well.
      await this.#pending.unnamed(() => this.#send({ kind: "close" })).catch(() => undefined);
    }
    cancel();
    if (this.#process !== undefined) this.takeDown({ code: "OWNER_CLOSED", text: "the plane was closed" });
  }

  #start(): void {
    const { setup, spawn } = this.#options;
    this.#process?.kill();
    try {
      const process = spawn(setup, {
        message: (message, body) => {
          if (this.#process === process) this.#receive(message, body);
        },
        ended: (cause) => {
          if (this.#process === process) this.takeDown({ code: "OWNER_CRASHED", text: cause });
        },
      });
      this.#process = process;
      this.#lives += 1;
      this.#watch();
    } catch (error) {
      this.takeDown({ code: "OWNER_FAILED", text: error instanceof Error ? error.message : String(error) });
    }
  }

  #request(message: (id: number) => ToOwner, body: readonly Packed[] = []): ReturnType<PendingWork["request"]> {
    if (this.#process === undefined) return Promise.reject(new OwnerDown("the owner is down"));
    return this.#pending.request((id) => this.#send(message(id), body));
  }

  #send(message: ToOwner, body: readonly Packed[] = [], sent?: () => void): void {
    if (this.#process === undefined) sent?.();
    else this.#process.send(message, body, sent);
    this.#watch();
  }

  #receive(message: FromOwner, body: Buffer): void {
    this.#endWatch();
    if (message.kind === "failed") return this.takeDown(message.reason);
    if (message.kind === "opened") {
      this.#wentBack = message.transaction < this.#flushed;
      this.#mark = message;
    } else if ("transaction" in message) {
      this.#mark = message;
      this.#flushed = message.transaction;
    }
    if (message.kind === "committed") {
      this.#pending.flushed(message.through);
      this.#options.onChange(this, "backlog");
    } else {
      this.#pending.answered("id" in message ? message.id : UNNAMED, message, body);
    }
    this.#watch();
  }

  /** Makes sure that silence is noticed while something waits, counted anew from each answer. */
  #watch(): void {
    if (this.#cancelStall !== undefined || this.#process === undefined || this.#pending.idle) return;
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

  #end(life: Extract<Life, { readonly reason: OwnerReason }>): void {
    this.#process?.kill();
    this.#process = undefined;
    this.#endWatch();
    const before = this.#life;
    const known = before.state === life.state && before.reason.code === life.reason.code;
    if (known) this.#life = life;
    else this.#become(life);
    this.#pending.fail(life.reason.text);
  }

  #become(life: Life): void {
    this.#life = life;
    this.#since = this.#options.clock.now();
    this.#options.onChange(this, "state");
  }
}
