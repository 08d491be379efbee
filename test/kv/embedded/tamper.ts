import type { OwnerProcess, SpawnOwner } from "../../../src/kv/embedded/owner-process.ts";
import type { FromOwner, OwnerReason, ToOwner } from "../../../src/kv/embedded/protocol.ts";

const NO_BODY = Buffer.alloc(0);

/**
 * Owners' processes whose messages a test can hold back, and which it can end. The processes themselves are the real ones.
 */
export class Tamper {
  readonly spawn: SpawnOwner;
  readonly #held = new Map<string, (() => void)[]>();
  readonly #processes = new Map<
    string,
    { readonly events: Parameters<SpawnOwner>[1]; readonly process: OwnerProcess }
  >();
  readonly sent: { readonly owner: string; readonly message: ToOwner }[] = [];
  readonly #answers: { readonly owner: string; readonly kind: FromOwner["kind"] }[] = [];
  /** Whether it remembers messages; a long run would pile them up. */
  recording = true;
  /** What merging cells of other owners changed at one. */
  readonly changes: { readonly owner: string; readonly missed: number }[] = [];
  /** How many processes each owner had. */
  readonly spawned = new Map<string, number>();
  /** Called before a message goes to an owner; "drop" keeps it from there. */
  onSend: (owner: string, message: ToOwner) => unknown = () => undefined;
  /** Called before an answer reaches the plane; "drop" keeps it from there. */
  onAnswer: (owner: string, message: FromOwner) => unknown = () => undefined;

  /** For how long an answer to the plane is under way, in milliseconds. */
  delayMs: (owner: string) => number = () => 0;

  constructor(spawn: SpawnOwner) {
    this.spawn = (setup, events) => {
      const { owner } = setup;
      this.spawned.set(owner, (this.spawned.get(owner) ?? 0) + 1);
      const process = spawn(setup, {
        ended: (cause) => events.ended(cause),
        message: (message, body) => {
          if (this.recording) this.#answers.push({ owner, kind: message.kind });
          if (this.recording && message.kind === "absorbed") this.changes.push({ owner, missed: message.changed });
          if (this.onAnswer(owner, message) === "drop") return;
          const pass = (): void => this.#pass(owner, () => events.message(message, body));
          const delay = this.delayMs(owner);
          if (delay > 0) setTimeout(pass, delay).unref();
          else pass();
        },
      });
      this.#processes.set(owner, { events, process });
      return {
        kill: () => process.kill(),
        send: (message, body, written) => {
          if (this.recording) this.sent.push({ owner, message });
          if (this.onSend(owner, message) !== "drop") process.send(message, body, written);
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

  /** Makes `owner` report a failure, as its process would. */
  fail(owner: string, reason: OwnerReason): void {
    this.#processes.get(owner)?.events.message({ kind: "failed", reason }, NO_BODY);
  }

  /** Ends `owner`'s process at once, as a crash does. */
  crash(owner: string): void {
    const crashed = this.#processes.get(owner);
    if (crashed === undefined) return;
    crashed.events.ended("the test ended it");
    crashed.process.kill();
  }

  #pass(owner: string, pass: () => void): void {
    const held = this.#held.get(owner);
    if (held === undefined) pass();
    else held.push(pass);
  }
}
