import type { FastifyReply } from "fastify";
import { StreamsError } from "../../src/errors.ts";

/** Longest that an answer waits, seconds, as a query says it: below the longest that any answer may take. */
export const WAIT_PATTERN = "^(?:[0-9]|1[0-9]|20)$";

/** How long an answer may wait, and what ends it before. */
export interface Wait {
  readonly waitMs: number;
  /** The caller is gone. */
  readonly signal: AbortSignal;
}

/**
 * Answers that wait (`?wait=`), of all operations together: fewer than there may be connections, so that those who wait leave
 * room for those who ask whether the process lives.
 */
export class Waits {
  readonly #max: number;
  #open = 0;

  /** `max`: answers that wait at once. */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Answers with what `answer` returns. `seconds`: as {@link WAIT_PATTERN} admits it; without, or 0, nothing waits.
   * @throws StreamsError WAITS_TOO_MANY, and whatever `answer` throws
   */
  async holding<T>(seconds: string | undefined, reply: FastifyReply, answer: (wait: Wait) => Promise<T>): Promise<T> {
    const waitMs = Number(seconds ?? "0") * 1_000;
    const gone = new AbortController();
    // Of the response: a request without a body may be closed as soon as it was read.
    reply.raw.once("close", () => gone.abort());
    const wait = { waitMs, signal: gone.signal };
    if (waitMs === 0) return answer(wait);
    if (this.#open >= this.#max) throw new StreamsError("WAITS_TOO_MANY", `${this.#max} answers wait already`);
    this.#open += 1;
    try {
      return await answer(wait);
    } finally {
      this.#open -= 1;
    }
  }
}
