import { reachOf } from "../../../src/core/partition/commit.ts";
import { knownBounds } from "../../../src/core/partition/range.ts";
import type { Fingerprint } from "../../../src/core/partition/copy.ts";
import {
  INITIAL_STATE,
  type PartitionEffect,
  type PartitionEvent,
  type PartitionState,
} from "../../../src/core/partition/state.ts";
import type { Stop } from "../../../src/core/partition/stop.ts";
import { Broken, type World, type Written } from "./world.ts";

const FAULT = { code: "AWAY", text: "away" };
const BATCH_RECORDS = 4;
const DISPUTES_MAX = 3;

/** One life of the partition's owner: feeds the machine and carries out its effects, each when the schedule says so. */
export class Life {
  readonly #world: World;
  readonly #generation: number;
  readonly #epoch: number;
  readonly #work = new Map<number, readonly Written[]>();
  readonly #queue: PartitionEvent[] = [];
  #state: PartitionState = { ...INITIAL_STATE, disputesMax: DISPUTES_MAX };
  #tasks: (() => void)[] = [];
  #flowing = false;
  #toSettle: number | undefined;
  #unrecorded: { readonly stop: Stop; readonly reach: number; readonly since: number } | undefined;
  /** When what is stored was read last: a stop that was stored before is known. */
  #factsAt = -1;
  #told = false;

  constructor(world: World) {
    this.#world = world;
    this.#generation = world.generation;
    this.#epoch = world.epoch;
    this.#gather();
  }

  get state(): PartitionState {
    return this.#state;
  }

  get waiting(): number {
    return this.#tasks.length;
  }

  /** Carries out one thing that is under way. */
  turn(index: number): void {
    const [task] = this.#tasks.splice(index, 1);
    task?.();
  }

  /** Tells it what operators have said since. */
  obey(): void {
    if (this.#told === this.#world.paused) return;
    this.#told = this.#world.paused;
    this.#dispatch({ event: "pause", paused: this.#told });
  }

  /** The assignment is over. @throws Broken when it would still commit */
  revoke(): void {
    this.#dispatch({ event: "revoked" });
    this.#flowing = false;
    const { copyDue, commitDue } = this.#world.core;
    if (copyDue(this.#state) !== undefined || commitDue(this.#state) !== undefined) {
      throw new Broken("I2: a partition that is no longer ours is committed");
    }
    this.#tasks = [];
  }

  /** The next fetch. @throws Broken */
  fetch(): void {
    const world = this.#world;
    const { phase, position = 0, paused } = this.#state;
    if (!this.#flowing || world.away || (phase.phase !== "running" && phase.phase !== "verifying")) return;
    if (world.epoch !== this.#epoch) return;
    if (this.#told && (paused || world.paused)) throw new Broken("I13: a paused partition is read");
    if (world.standing !== undefined && world.standing.at < this.#factsAt)
      throw new Broken("I13: a stopped partition is read");
    if (world.startRecord === undefined && world.copy === undefined && world.committed === undefined) {
      throw new Broken("I5: read before its start is durable");
    }
    const denied = world.spurious > 0;
    if (denied || position < world.logStart || position > world.end) {
      if (denied) world.spurious -= 1;
      this.#flowing = false;
      return this.#dispatch({ event: "fetch-fault", position, fault: "out-of-range", detail: "out of range" });
    }
    if (position < world.end) this.#deliver(position);
  }

  #deliver(position: number): void {
    const { records, logStart, end, time } = this.#world;
    const page = records.filter(({ offset }) => offset >= position).slice(0, BATCH_RECORDS);
    const last = page.at(-1);
    const more = last !== undefined && last.offset + 1 < end && records.some(({ offset }) => offset > last.offset);
    const next = more ? last.offset + 1 : end;
    const { phase, nextSeq } = this.#state;
    this.#work.set(nextSeq, page);
    const epochs = page.map(({ hash }) => Number(hash.split(".")[2]));
    this.#dispatch({
      event: "batch",
      batch: {
        fetchedAt: position,
        next,
        records: page.length,
        bytes: page.length,
        logStart,
        end,
        deliveredAtMs: time,
        crowded: false,
        leaderEpochs: epochs.length === 0 ? undefined : { first: epochs[0] ?? 0, last: epochs.at(-1) ?? 0 },
        recognised: phase.phase === "verifying" ? recognised(page, next, phase.verify.fingerprint) : undefined,
      },
    });
    if (!this.#state.inFlight.some(({ seq }) => seq === nextSeq)) this.#work.delete(nextSeq);
  }

  /** Read back, copy, commit: three steps, with anything in between. */
  round(): void {
    const world = this.#world;
    if (this.#state.watermark === undefined || world.away || !world.storeUp || this.#epoch !== world.epoch) return;
    const { committed, copy } = world;
    world.movedUnseen = false;
    this.#dispatch({ event: "read-back", committed, copy: copy?.watermark });
    this.#tasks.push(() => this.#writeCopy());
  }

  #writeCopy(): void {
    const world = this.#world;
    const due = world.core.copyDue(this.#state);
    if (!world.storeUp || this.#epoch !== world.epoch) return;
    if (due !== undefined) {
      if (due.watermark > (world.copy?.watermark ?? -1)) world.copy = due;
      this.#dispatch({ event: "copied", watermark: due.watermark });
    }
    this.#tasks.push(() => this.#commit());
  }

  #commit(): void {
    const world = this.#world;
    const due = world.core.commitDue(this.#state);
    if (due === undefined || world.away || this.#epoch !== world.epoch) return;
    if (!world.commit(due, this.#generation)) return;
    // The answer may come later, or never.
    this.#tasks.push(() => {
      if (this.#state.phase.phase === "gone") return;
      this.#dispatch({ event: "committed", offset: due });
      const { startRecord } = world;
      if (startRecord !== undefined && startRecord.from === this.#toSettle)
        world.startRecord = { ...startRecord, settled: true };
      this.#toSettle = undefined;
    });
  }

  #dispatch(event: PartitionEvent): void {
    this.#queue.push(event);
    if (this.#queue.length > 1) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const before = this.#state;
      const { state, effects } = this.#world.core.step(before, next);
      this.#state = state;
      for (const { seq } of before.inFlight) {
        if (!state.inFlight.some((entry) => entry.seq === seq)) this.#work.delete(seq);
      }
      for (const effect of effects) this.#carryOut(effect);
      this.#queue.shift();
    }
  }

  #carryOut(effect: PartitionEffect): void {
    if (effect.effect === "pause") this.#flowing = false;
    else if (effect.effect === "resume") this.#flowing = true;
    else if (effect.effect === "drop") for (const seq of effect.seqs) this.#work.delete(seq);
    else if (effect.effect === "gather-facts") this.#tasks.push(() => this.#gather());
    else if (effect.effect === "record-first-start") this.#tasks.push(() => this.#recordFirstStart());
    else if (effect.effect === "begin") this.#tasks.push(() => this.#begin(effect.position));
    else if (effect.effect === "process") this.#tasks.push(() => this.#process(effect.seq, effect.from));
    else if (effect.effect === "read-bounds") this.#tasks.push(() => this.#readBounds());
    else if (effect.effect === "persist-stop") this.#persist(effect.stop);
    else this.#tasks.push(() => this.#dispatch({ event: "retry", seq: effect.seq, attempt: effect.attempt }));
  }

  /** The commit, then what is stored, then the bounds, with anything in between. */
  #gather(): void {
    const world = this.#world;
    if (world.away) return this.#dispatch({ event: "facts-failed", cause: FAULT });
    const { committed } = world;
    this.#tasks.push(() => {
      if (!world.storeUp) return this.#dispatch({ event: "facts-failed", cause: FAULT });
      this.#factsAt = world.time;
      const { copy, startRecord, standing } = world;
      const unread = this.#epoch > 0 && startRecord === undefined && copy === undefined;
      this.#tasks.push(() => {
        if (world.away) return this.#dispatch({ event: "facts-failed", cause: FAULT });
        if (startRecord?.settled === false) this.#toSettle = startRecord.from;
        const bounds = { logStart: world.logStart, end: world.end };
        const stop = standing?.stop ?? this.#unrecorded?.stop;
        this.#dispatch({ event: "facts", facts: { startRecord, committed, copy, bounds, unread }, stop });
      });
    });
  }

  #recordFirstStart(): void {
    const world = this.#world;
    if (this.#epoch !== world.epoch) return;
    const { committed, logStart = 0 } = this.#state;
    const left = this.#epoch === 0 ? undefined : committed;
    if (world.startRecord === undefined) world.beganAt = logStart;
    world.startRecord ??= {
      from: logStart,
      before: left ?? null,
      copyBefore: null,
      settled: false,
      ...(left === undefined ? {} : { reach: left }),
    };
    this.#gather();
  }

  #begin(position: number): void {
    const { phase, fetching } = this.#state;
    const wanted = (phase.phase === "running" || phase.phase === "verifying") && fetching;
    if (wanted && this.#state.position === position) this.#flowing = true;
  }

  #readBounds(): void {
    const before = knownBounds(this.#state);
    this.#tasks.push(() => {
      const { away, logStart, end } = this.#world;
      if (away) return this.#dispatch({ event: "bounds-failed", cause: FAULT });
      this.#dispatch({ event: "bounds", logStart, end, asked: true, before });
    });
  }

  /** The regular reading of the bounds. */
  observe(): void {
    const before = knownBounds(this.#state);
    this.#tasks.push(() => {
      const { away, logStart, end } = this.#world;
      if (!away) this.#dispatch({ event: "bounds", logStart, end, asked: false, before });
    });
  }

  #process(seq: number, from: number): void {
    const world = this.#world;
    const records = this.#work.get(seq)?.filter(({ offset }) => offset >= from);
    if (records === undefined) return;
    const poison = records.filter((record) => record.poison);
    const failed = !world.write(
      records.filter((record) => !record.poison),
      this.#epoch,
    );
    if (failed || (poison.length > 0 && world.lettersAway))
      return this.#dispatch({ event: "write-failed", seq, cause: FAULT });
    for (const { offset } of poison) {
      world.letters.add(`${this.#epoch}/${offset}`);
      if (this.#epoch === world.epoch) world.gaps.push({ from: offset, to: offset + 1 });
    }
    const last = records.at(-1);
    const fingerprint = last === undefined ? undefined : { offset: last.offset, timestampMs: 0, hash: last.hash };
    // The broker's answer, and the owners', come when they come.
    this.#tasks.push(() => this.#dispatch({ event: "acknowledged", seq, fingerprint }));
  }

  #persist(stop: Stop): void {
    this.#unrecorded ??= { stop, reach: reachOf(this.#state), since: this.#world.time };
    const pending = this.#unrecorded;
    this.#tasks.push(() => {
      const world = this.#world;
      if (!world.storeUp) return this.#persist(stop);
      this.#unrecorded = undefined;
      if (this.#epoch !== world.epoch || world.clearedSince === pending.since) return;
      if (world.stop === undefined || world.stop.reach < pending.reach) world.stop = { ...pending, at: world.time };
    });
  }
}

function recognised(page: readonly Written[], next: number, wanted: Fingerprint) {
  for (const { offset, hash } of page) {
    if (offset > wanted.offset) return "absent";
    if (offset === wanted.offset) return hash === wanted.hash ? "equal" : "different";
  }
  return next > wanted.offset ? "absent" : undefined;
}
