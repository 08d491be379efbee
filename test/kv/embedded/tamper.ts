import type { OwnerThread, SpawnOwner } from "../../../src/kv/embedded/owner-thread.ts";
import type { FromOwner, OwnerReason, ToOwner } from "../../../src/kv/embedded/protocol.ts";

/**
 * Owners' threads whose messages a test can hold back, and which it can end. The threads themselves are the real ones.
 */
export class Tamper {
  readonly spawn: SpawnOwner;
  readonly #held = new Map<string, (() => void)[]>();
  readonly #threads = new Map<string, { readonly events: Parameters<SpawnOwner>[1]; readonly thread: OwnerThread }>();
  readonly sent: { readonly owner: string; readonly message: ToOwner }[] = [];
  readonly #answers: { readonly owner: string; readonly kind: FromOwner["kind"] }[] = [];
  readonly #crashed = new WeakSet<OwnerThread>();
  /** Called before a message goes to an owner; "drop" keeps it from there. */
  onSend: (owner: string, message: ToOwner) => unknown = () => undefined;

  constructor(spawn: SpawnOwner) {
    this.spawn = (setup, events) => {
      const thread = spawn(setup, {
        ended: (cause) => {
          if (!this.#crashed.has(thread)) events.ended(cause);
        },
        message: (message) => {
          if (this.#crashed.has(thread)) return message.kind === "closed" ? thread.terminate() : undefined;
          this.#answers.push({ owner: setup.owner, kind: message.kind });
          this.#pass(setup.owner, () => events.message(message));
        },
      });
      this.#threads.set(setup.owner, { events, thread });
      return {
        terminate: () => {
          if (!this.#crashed.has(thread)) thread.terminate();
        },
        send: (message, transfer) => {
          this.sent.push({ owner: setup.owner, message });
          const dropped = this.onSend(setup.owner, message) === "drop" || this.#crashed.has(thread);
          if (!dropped) thread.send(message, transfer);
        },
      };
    };
  }

  /** Holds back what `owner` answers from now on. */
  hold(owner: string): void {
    this.#held.set(owner, []);
  }

  /** Lets through what was held back, and everything after it. */
  letGo(owner: string): void {
    const held = this.#held.get(owner) ?? [];
    this.#held.delete(owner);
    for (const pass of held) pass();
  }

  /** How many answers of `owner` are held back. */
  heldCount(owner: string): number {
    return this.#held.get(owner)?.length ?? 0;
  }

  /** How many answers of a kind `owner` gave. */
  answers(owner: string, kind: FromOwner["kind"]): number {
    return this.#answers.filter((answer) => answer.owner === owner && answer.kind === kind).length;
  }

  /** Makes `owner` report a failure, as its thread would. */
  fail(owner: string, reason: OwnerReason): void {
    this.#threads.get(owner)?.events.message({ kind: "failed", reason });
  }

  /**
   * Makes `owner`'s thread end for the plane, as a crash would: nothing reaches it or comes from it any more. The thread
   * itself is let out of the transaction that it may be in: LMDB's lock would outlive a thread that is torn out of one
   * for as long as this process lives, and no test could open the store again. A process that dies takes it along.
   */
  crash(owner: string): void {
    const crashed = this.#threads.get(owner);
    if (crashed === undefined || this.#crashed.has(crashed.thread)) return;
    this.#crashed.add(crashed.thread);
    crashed.thread.send({ kind: "close" }, []);
    crashed.events.ended("the test ended it");
  }

  #pass(owner: string, pass: () => void): void {
    const held = this.#held.get(owner);
    if (held === undefined) pass();
    else held.push(pass);
  }
}
