import { StreamsError } from "../../../src/errors.ts";
import type { BarrierAt, BarrierCommands, BarrierView, BarrierWait } from "../../../src/ports/barriers.ts";

/** One barrier, and what was asked of it. */
export class FakeBarriers implements BarrierCommands {
  readonly created: { readonly source: string; readonly at: BarrierAt; readonly actor: string }[] = [];
  readonly waits: BarrierWait[] = [];
  failure: StreamsError | undefined;
  view: BarrierView = {
    id: "7",
    source: "articles",
    state: "blocked",
    at: "timestamp",
    timestampMs: 0,
    actor: "script",
    createdAt: 0,
    expiresAt: 86_400_000,
    asOf: 1_000,
    partitions: [
      { partition: 0, from: 2, to: 9, applied: 9, done: true },
      { partition: 1, from: 0, to: 4, applied: 1, done: false, blocked: { by: "stop", why: "POISON" } },
    ],
    losses: { deadLetters: 2, gaps: 1, gapOffsets: 3, exact: false, complete: true },
  };

  create(source: string, at: BarrierAt, actor: string): Promise<BarrierView> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.created.push({ source, at, actor });
    return Promise.resolve(this.view);
  }

  get(_source: string, id: string, wait: BarrierWait): Promise<BarrierView> {
    if (id !== "7") return Promise.reject(new StreamsError("BARRIER_UNKNOWN", `no barrier ${id}`));
    this.waits.push(wait);
    if (wait.waitMs === 0) return Promise.resolve(this.view);
    return new Promise((resolve) => wait.signal.addEventListener("abort", () => resolve(this.view)));
  }
}
