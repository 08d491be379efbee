import type { BarrierRecord } from "../control/barrier-records.ts";
import type { Offset } from "../core/offset.ts";
import { logOf } from "../core/topic/binding.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { SourceService } from "../fleet/source-service.ts";
import { GapLedger } from "../gaps/gap-ledger.ts";
import type {
  BarrierAt,
  BarrierCommands,
  BarrierPartition,
  BarrierState,
  BarrierView,
  BarrierWait,
} from "../ports/barriers.ts";
import type { Clock } from "../ports/clock.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import { BarrierStore, type NewBarrier } from "./barrier-store.ts";
import { fixOffsets } from "./fixing.ts";
import { lossesOf } from "./losses.ts";
import { boundsNow, heldAgainst, type Progress, progressOf, readBinding } from "./progress.ts";

/** How often a waiting answer looks: at first, and after a while. */
const LOOK_MS = 250;
const LATER_LOOK_MS = 1_000;

/** What barriers are made of. */
export interface BarrierParts {
  readonly fleet: Pick<Fleet, "service" | "phase">;
  readonly control: ControlStore;
  readonly clock: Clock;
}

/** Barriers of every source, in control records: whichever instance is asked, it answers for the whole fleet. */
export class BarrierService implements BarrierCommands {
  readonly #parts: BarrierParts;
  readonly #store: BarrierStore;
  readonly #gaps: GapLedger;

  constructor(parts: BarrierParts) {
    this.#parts = parts;
    this.#store = new BarrierStore(parts.control);
    this.#gaps = new GapLedger(parts.control);
  }

  async create(source: string, at: BarrierAt, actor: string): Promise<BarrierView> {
    const { fleet, clock } = this.#parts;
    const service = fleet.service(source);
    const offsets = await fixOffsets(service, at, clock.now());
    const binding = await readBinding(service);
    const log = binding === undefined ? 0 : logOf(binding);
    const targets = [...offsets].map(([partition, to]) => ({ partition, to })).toSorted(byPartition);
    const progress = await judged(service, log, targets);
    refuseBlocked(
      targets.map(({ partition }) => partition),
      progress,
    );
    const createdAt = clock.now();
    const barrier: NewBarrier = {
      at: at.at === "timestamp" ? { at: at.at, timestampMs: at.timestampMs } : { at: at.at },
      createdAt,
      ...(stateOf(progress) === "done" ? { doneAt: createdAt } : {}),
      actor,
      log,
      targets: targets.map(({ partition, to }, index) => ({
        partition,
        from: Math.min(progress[index]?.applied ?? 0, to),
        to,
      })),
    };
    const isDone = async (other: BarrierRecord): Promise<boolean> =>
      stateOf(await judged(service, other.log, other.targets)) === "done";
    const record = await this.#store.add(source, barrier, isDone);
    return this.#view(service, record, progress);
  }

  async get(source: string, id: string, wait: BarrierWait): Promise<BarrierView> {
    const { fleet, clock } = this.#parts;
    const service = fleet.service(source);
    const record = await this.#store.read(source, id, clock.now());
    const until = clock.monotonic() + wait.waitMs;
    let progress = await judged(service, record.log, record.targets);
    if (record.doneAt !== undefined) return this.#view(service, record, progress);
    for (let looks = 1; stateOf(progress) === "waiting" && this.#goesOn(until, wait.signal); looks += 1) {
      const delayMs = Math.min(LOOK_MS * looks, LATER_LOOK_MS, Math.max(until - clock.monotonic(), 1));
      await this.#pause(delayMs, wait.signal);
      progress = await goOn(service, record, progress);
      // What was done at an earlier look has to be so still: its log may have been replaced while others were waited for.
      if (stateOf(progress) === "done") progress = await judged(service, record.log, record.targets);
    }
    return this.#view(service, await this.#settled(source, record, progress), progress);
  }

  /** Done is said for good: it is stored before it is told. @throws KvFault */
  async #settled(source: string, record: BarrierRecord, progress: readonly Progress[]): Promise<BarrierRecord> {
    if (stateOf(progress) !== "done") return record;
    const doneAt = this.#parts.clock.now();
    await this.#store.settle(source, record, doneAt);
    return { ...record, doneAt };
  }

  #goesOn(until: number, signal: AbortSignal): boolean {
    const { fleet, clock } = this.#parts;
    return clock.monotonic() < until && !signal.aborted && fleet.phase !== "draining";
  }

  #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(delayMs, done);
      function done(): void {
        cancel();
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
  }

  async #view(service: SourceService, record: BarrierRecord, progress: readonly Progress[]): Promise<BarrierView> {
    const { number, at, targets, doneAt, log: _log, ...rest } = record;
    const ranges = targets.map((target, index) => ({ ...target, ...epochsOf(progress[index]) }));
    return {
      ...rest,
      id: String(number),
      source: service.name,
      state: doneAt === undefined ? stateOf(progress) : "done",
      ...(doneAt === undefined ? {} : { doneAt }),
      at: at.at,
      ...(at.at === "timestamp" ? { timestampMs: at.timestampMs } : {}),
      asOf: this.#parts.clock.now(),
      partitions: targets.map((target, index) =>
        doneAt === undefined ? partitionOf(target, progress[index]) : doneOf(target, progress[index]),
      ),
      losses: await lossesOf(this.#gaps, service.name, ranges),
    };
  }
}

/** How far the targets are. Before it is said that all is done, the log itself is asked. @throws KvFault */
async function judged(
  service: SourceService,
  log: number,
  targets: readonly { readonly partition: number; readonly to: Offset }[],
): Promise<readonly Progress[]> {
  const progress = await progressOf(service, log, targets);
  return progress.some(({ done }) => done) ? heldAgainst(await boundsNow(service), targets, progress) : progress;
}

/** Looks again at what is not done. @throws KvFault */
async function goOn(
  service: SourceService,
  { log, targets }: BarrierRecord,
  progress: readonly Progress[],
): Promise<readonly Progress[]> {
  const open = targets.filter((_target, index) => progress[index]?.done !== true);
  const looked = await judged(service, log, open);
  const anew = new Map(open.map((target, index) => [target, looked[index]]));
  return targets.flatMap((target, index) => anew.get(target) ?? progress[index] ?? []);
}

function epochsOf(progress: Progress | undefined): Pick<Progress, "topicEpochs" | "allEpochs"> {
  return { topicEpochs: progress?.topicEpochs ?? [], allEpochs: progress?.allEpochs ?? false };
}

function byPartition(one: { readonly partition: number }, other: { readonly partition: number }): number {
  return one.partition - other.partition;
}

function partitionOf(
  target: { readonly partition: number; readonly from: Offset; readonly to: Offset },
  progress: Progress | undefined,
): BarrierPartition {
  const { applied = 0, done = false, blocked } = progress ?? {};
  return { ...target, applied, done, ...(blocked === undefined ? {} : { blocked }) };
}

/** Of a barrier that was found done: what puts the log in doubt since then takes nothing back. */
function doneOf(target: Parameters<typeof partitionOf>[0], progress: Progress | undefined): BarrierPartition {
  return { ...target, applied: Math.max(progress?.applied ?? 0, target.to), done: true };
}

function stateOf(progress: readonly Progress[]): BarrierState {
  if (progress.every(({ done }) => done)) return "done";
  if (progress.some(({ done, givenUp }) => givenUp && !done)) return "given-up";
  return progress.some(needsSomebody) ? "blocked" : "waiting";
}

/** A hold ends by itself, or becomes a stop. */
function needsSomebody({ blocked }: Progress): boolean {
  return blocked !== undefined && blocked.by !== "hold";
}

/** Nobody should wait for what waits for a person. @throws StreamsError BARRIER_BLOCKED */
function refuseBlocked(partitions: readonly number[], progress: readonly Progress[]): void {
  const blocked = partitions.flatMap((partition, index) => {
    const block = progress[index]?.blocked;
    return block === undefined || block.by === "hold"
      ? []
      : [{ partition, text: `${partition}: ${block.by} ${block.why}` }];
  });
  if (blocked.length === 0) return;
  const named = blocked.map(({ partition }) => partition).join(", ");
  throw new StreamsError("BARRIER_BLOCKED", `partitions that are not read now: ${named}`, {
    blocked: blocked.map(({ text }) => text).join("; "),
  });
}
