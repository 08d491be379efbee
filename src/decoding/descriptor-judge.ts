import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { DescriptorJudge } from "../ports/descriptor-checks.ts";
import type { JudgeAnswer, JudgeCall } from "./judge-calls.ts";
import { descriptorInvalid } from "./proto/invalid.ts";

/** Bounds of what one upload may cost. */
export interface JudgeLimits {
  /** Longest time of one call, milliseconds. */
  readonly callMs: number;
  /** Memory of the thread, MiB. */
  readonly memoryMiB: number;
  /** Calls that wait. */
  readonly waitingMax: number;
  /** The thread ends when nothing was asked of it for this long, milliseconds. */
  readonly idleMs: number;
}

const DEFAULTS: JudgeLimits = { callMs: 20_000, memoryMiB: 384, waitingMax: 32, idleMs: 60_000 };

/** Makes the judge. Its thread begins with the first call. `limits` overrides single defaults. */
export function createDescriptorJudge(clock: Clock, limits: Partial<JudgeLimits> = {}): DescriptorJudge {
  const thread = new JudgeThread(clock, { ...DEFAULTS, ...limits });
  return {
    read: async (upload, message, known) => {
      const answer = await thread.ask({ call: "read", upload, message, known });
      if (answer.answer !== "read") throw unexpected(answer);
      return answer.value;
    },
    digest: async (files) => {
      const answer = await thread.ask({ call: "digest", files });
      if (answer.answer !== "digest") throw unexpected(answer);
      return answer.value;
    },
    compatibility: async (request) => {
      const answer = await thread.ask({ call: "compatibility", request });
      if (answer.answer !== "compatibility") throw unexpected(answer);
      return answer.value;
    },
    close: () => thread.close(),
  };
}

function unexpected(answer: JudgeAnswer): Error {
  return answer.answer === "invalid" ? descriptorInvalid(answer.detail) : new Error("the judge answered another call");
}

class JudgeThread {
  readonly #clock: Clock;
  readonly #limits: JudgeLimits;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #cancelIdle: (() => void) | undefined;
  #closed = false;

  constructor(clock: Clock, limits: JudgeLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Calls wait for each other: one thread, one upload's memory. @throws StreamsError */
  async ask(call: JudgeCall): Promise<JudgeAnswer> {
    if (this.#closed) throw new StreamsError("NOT_READY", "the service is stopping");
    if (this.#waiting >= this.#limits.waitingMax) {
      throw new StreamsError("DESCRIPTORS_BUSY", `${this.#waiting} descriptors wait to be compiled`);
    }
    this.#waiting += 1;
    this.#cancelIdle?.();
    const answer = this.#last.then(() => this.#run(call));
    const over = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#cancelIdle = this.#clock.after(this.#limits.idleMs, () => void this.#end());
    };
    this.#last = answer.then(over, over);
    return answer;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelIdle?.();
    await this.#end();
  }

  async #run(call: JudgeCall): Promise<JudgeAnswer> {
    if (this.#closed) throw new StreamsError("NOT_READY", "the service is stopping");
    this.#worker ??= startThread(this.#limits.memoryMiB);
    const worker = this.#worker;
    let cancel = (): void => undefined;
    try {
      return await new Promise<JudgeAnswer>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
        worker.once("exit", () => reject(new ThreadEnded()));
        cancel = this.#clock.after(this.#limits.callMs, () => reject(new CallTooLong()));
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage(call);
      });
    } catch (error) {
      await this.#end();
      throw this.#refusal(error);
    } finally {
      cancel();
      worker.removeAllListeners("message").removeAllListeners("error").removeAllListeners("exit");
      // An error of a thread that is being ended has no one else to hear it.
      worker.on("error", () => undefined);
    }
  }

  #refusal(error: unknown): unknown {
    if (this.#closed) return new StreamsError("NOT_READY", "the service is stopping");
    if (error instanceof CallTooLong) return descriptorInvalid("it takes more time to compile than a descriptor may");
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    return code === "ERR_WORKER_OUT_OF_MEMORY"
      ? descriptorInvalid("it takes more memory to compile than a descriptor may")
      : error;
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

class CallTooLong extends Error {}
class ThreadEnded extends Error {}

/** Starts `judge-main` from the sources or from the build, whichever this module is part of. It needs none of our secrets. */
function startThread(memoryMiB: number): Worker {
  const extension = extname(new URL(import.meta.url).pathname);
  const entry = new URL(`./judge-main${extension}`, import.meta.url);
  const options = { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMiB } };
  const native: unknown = Reflect.get(process.features, "typescript");
  const worker =
    extension === ".ts" && typeof native !== "string"
      ? new Worker(fromSources(entry), { ...options, eval: true })
      : new Worker(entry, options);
  worker.unref();
  return worker;
}

/** Node 20 reads no TypeScript, and takes no loader for a thread from its arguments: the thread itself sets it. */
function fromSources(entry: URL): string {
  const loader = JSON.stringify(import.meta.resolve("tsx/esm/api"));
  return `import(${loader}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
}
