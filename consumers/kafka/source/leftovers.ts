import type { SourceFaultCode } from "../../../src/ports/record-source.ts";
import { classifyError } from "../classify-error.ts";

/** Makes the group forget a member. @throws when it could not. */
export type LeaveGroup = (memberId: string) => Promise<void>;

/** Failures that a join would meet as well: the leave is tried again before it. */
const JOIN_WOULD_FAIL: ReadonlySet<SourceFaultCode> = new Set<SourceFaultCode>([
  "broker-unreachable",
  "timeout",
  "group-unavailable",
  "authentication-failed",
]);

/**
 * Members that have died but that the broker still waits for: until their session ends it holds their partitions, and
 * every join waits for them. Leaving the group in their name ends that at once. There is no telling by the clock when a
 * session has ended: a broker that restarts begins every session anew.
 */
export class Leftovers {
  readonly #leave: LeaveGroup;
  readonly #members = new Set<string>();

  constructor(leave: LeaveGroup) {
    this.#leave = leave;
  }

  add(memberId: string): void {
    this.#members.add(memberId);
  }

  /**
   * Leaves for every member. One for which that fails although a join might not is given up: its session will end.
   * @throws what a leave throws when a join would fail as well.
   */
  async clear(): Promise<void> {
    for (const memberId of this.#members) {
      try {
        await this.#leave(memberId);
      } catch (error) {
        if (JOIN_WOULD_FAIL.has(classifyError(error).code)) throw error;
      }
      this.#members.delete(memberId);
    }
  }
}
