import type { Copy } from "../../../src/core/partition/copy.ts";
import type { StartRecord } from "../../../src/core/partition/start.ts";
import type { Stop, StopCode } from "../../../src/core/partition/stop.ts";
import { onAnswer, startTally } from "../../../src/kv/quorum.ts";
import type { Core } from "./mutants.ts";

/** What breaks a promise of the contract: the text names it. */
export class Broken extends Error {}

/** One record that was ever produced. `log`: which log it is of; another one is another topic, or what was cut and written anew. */
export interface Written {
  readonly offset: number;
  readonly hash: string;
  readonly poison: boolean;
  readonly log: number;
}

interface Owner {
  up: boolean;
  /** It takes writes and does not get to flush them. */
  slow: boolean;
  readonly cells: Map<string, string>;
}

interface StandingStop {
  readonly stop: Stop;
  readonly reach: number;
  readonly since: number;
  /** When it was stored. */
  readonly at: number;
}

const W = 2;

/** A topic's only partition, its group, and the store: everything that outlives a process. */
export class World {
  readonly core: Core;
  /** Counts events: stops are dated by it. */
  time = 0;
  log = 0;
  /** The log that is accepted under the topic epoch: records of another one must never be written under it. */
  accepted = 0;
  logStart = 0;
  end = 0;
  leaderEpoch = 100;
  /** The topic is created again under ever earlier leaders: under the same one nothing tells. */
  #lowestEpoch = 100;
  records: Written[] = [];
  /** Every record of the accepted log that was ever there, also what retention took. */
  history: Written[] = [];
  holesAllowed = true;
  committed: number | undefined;
  generation = 0;
  away = false;
  lettersAway = false;
  /** So many fetches are denied although the bounds contain them. */
  spurious = 0;
  epoch = 0;
  copy: Copy | undefined;
  startRecord: StartRecord | undefined;
  stop: StandingStop | undefined;
  clearedSince: number | undefined;
  /** Where the first start under the epoch was: nobody wants what was before. */
  beganAt = 0;
  paused = false;
  readonly owners: readonly Owner[] = [0, 1, 2].map(() => ({ up: true, slow: false, cells: new Map() }));
  readonly letters = new Set<string>();
  gaps: { readonly from: number; readonly to: number }[] = [];
  /** An operator went back behind the commit: the next one may lower it (the one exception of I2). */
  mayLower = false;
  /** Somebody moved the commit since it was read back: nobody can know, and the next commit hides it. */
  movedUnseen = false;
  /** What a stop may rightly say, from what was done to this world. */
  readonly causes = new Set<StopCode>();
  /** Something was cut above the watermark: what was in flight may be stored with other content. */
  cut = false;

  constructor(core: Core) {
    this.core = core;
  }

  produce(count: number, poison: (below: number) => number): void {
    for (let index = 0; index < count; index += 1) {
      const record = {
        offset: this.end,
        hash: `${this.log}.${this.end}.${this.leaderEpoch}`,
        poison: poison(8) === 0,
        log: this.log,
      };
      this.records.push(record);
      if (this.log === this.accepted) this.history.push(record);
      this.end += 1;
    }
  }

  retain(to: number): void {
    const known = [this.committed, this.copy?.watermark, this.startRecord?.from].filter((at) => at !== undefined);
    if (to > Math.min(...known, this.end)) this.causes.add("BELOW_LOG_START");
    this.causes.add("BELOW_LOG_START");
    if (this.committed === undefined) this.causes.add("TOPIC_RECREATED");
    this.logStart = Math.max(this.logStart, Math.min(to, this.end));
    this.records = this.records.filter(({ offset }) => offset >= this.logStart);
  }

  /**
   * A replica that ends at `to` is elected. Above the copy nothing says what was applied once the process dies, so what is
   * written there anew is of the same log; what a process remembers makes it stop, as it may.
   */
  electUnclean(to: number): void {
    const end = Math.max(to, this.logStart);
    if (end >= this.end) return;
    this.leaderEpoch += 1;
    this.records = this.records.filter(({ offset }) => offset < end);
    this.end = end;
    for (const code of ["ABOVE_LOG_END", "TOPIC_RECREATED", "OFFSET_DISPUTED"] as const) this.causes.add(code);
    this.holesAllowed = false;
    if (end < (this.copy?.watermark ?? 0)) this.log += 1;
    else this.#forget(end);
  }

  /** The topic is deleted and created again, and the group's offsets with it. */
  recreate(): void {
    this.log += 1;
    const gone = { logStart: 0, end: 0, records: [], committed: undefined, holesAllowed: false };
    Object.assign(this, gone);
    this.#lowestEpoch -= 1;
    this.leaderEpoch = this.#lowestEpoch;
    for (const code of ["ABOVE_LOG_END", "TOPIC_RECREATED", "COMMIT_VANISHED", "COMMIT_MOVED"] as const)
      this.causes.add(code);
    // Without a copy nothing was applied, as far as anybody can know.
    if (this.copy !== undefined) return;
    this.accepted = this.log;
    this.#forget(0);
  }

  #forget(end: number): void {
    if (this.log !== this.accepted) return;
    this.cut = true;
    this.history = this.history.filter(({ offset, log }) => offset < end && log === this.log);
  }

  /** An operator takes the log that is there for the one to be read. */
  openEpoch(): void {
    this.epoch += 1;
    this.accepted = this.log;
    this.history = [...this.records];
    this.copy = undefined;
    this.startRecord = undefined;
    this.stop = undefined;
    this.clearedSince = undefined;
    this.beganAt = 0;
    this.gaps = [];
    this.mayLower = true;
    this.holesAllowed = true;
  }

  /** Whether W owners took the records. @throws Broken when one is not of the log that this epoch reads (I5) */
  write(records: readonly Written[], epoch: number): boolean {
    if (epoch === this.epoch && records.some(({ log }) => log > this.accepted)) {
      throw new Broken("I5: a record of another log is written under this topic epoch");
    }
    let tally = startTally(["0", "1", "2"]);
    for (const [index, owner] of this.owners.entries()) {
      if (!owner.up || owner.slow) continue;
      for (const { offset, hash } of records) owner.cells.set(`${epoch}/${offset}`, hash);
      tally = onAnswer(tally, String(index));
    }
    return this.core.writeVerdict({ ...tally, waiting: [] }, W) === "reached";
  }

  /** One owner's disk is lost; it takes both others before it counts again. */
  loseOwner(index: number): void {
    const lost = this.owners[index];
    if (lost === undefined || this.owners.some((owner, other) => other !== index && !owner.up)) return;
    lost.cells.clear();
    for (const other of this.owners) for (const [key, hash] of other.cells) lost.cells.set(key, hash);
    lost.up = true;
  }

  get storeUp(): boolean {
    return this.owners.filter(({ up }) => up).length >= W;
  }

  /** A commit as the broker takes it. @throws Broken */
  commit(offset: number, generation: number): boolean {
    if (generation !== this.generation) return false;
    if (this.committed !== undefined && offset < this.committed && !this.mayLower && !this.movedUnseen) {
      throw new Broken(`I2: the commit goes down from ${this.committed} to ${offset}`);
    }
    if ((this.copy?.watermark ?? -1) < offset) throw new Broken(`I1: a commit of ${offset} is ahead of its copy`);
    // What is written anew where something was cut is found at the next look, which may come after the commit of what was there.
    if (!this.cut) this.requireAccounted(offset);
    this.committed = offset;
    this.mayLower = false;
    this.movedUnseen = false;
    return true;
  }

  /** Everything below `to` is held, a confirmed dead letter with its gap, or passed over in the gap ledger. @throws Broken */
  requireAccounted(to: number): void {
    const from = this.beganAt;
    for (const record of this.history) {
      if (record.offset < from || record.offset >= to || this.#isAccounted(record)) continue;
      throw new Broken(`I1, I3, I11, I12: the record at ${record.offset} is passed over, and nothing says so`);
    }
  }

  #isAccounted({ offset, hash, poison }: Written): boolean {
    const key = `${this.epoch}/${offset}`;
    const isGap = this.gaps.some((gap) => gap.from <= offset && offset < gap.to);
    // Where offsets were given to other records, letters of the earlier ones are no promise of ours.
    const isLetter = this.letters.has(key);
    if (!poison && isLetter && !this.cut)
      throw new Broken(`I11: the record at ${offset} has no fault and a dead letter`);
    if (poison && isLetter) return isGap;
    if (isGap) return true;
    const holds = (owner: Owner) => (this.cut ? owner.cells.has(key) : owner.cells.get(key) === hash);
    return !poison && this.owners.some(holds);
  }

  /** Whether the stop that is stored stands: nobody has gone on beyond its reach. */
  get standing(): StandingStop | undefined {
    const { stop } = this;
    return stop !== undefined && (this.copy?.watermark ?? 0) <= stop.reach ? stop : undefined;
  }
}
