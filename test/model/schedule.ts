import type { Process } from "./counting.ts";
import { recount, Runner } from "./processes.ts";
import { ALL_RULES, type Rules, World } from "./world.ts";

/** Steps until the world comes to rest. */
const STEPS = 250;
/** Processes at once: one owner, and what was left behind of others. */
const PROCESSES = 4;
/** Far more steps than coming to rest takes. */
const REST_STEPS = 50_000;

/** How a schedule ended. */
export interface Outcome {
  /** The first wrong total, in words; undefined when all were right. */
  readonly wrong: string | undefined;
  readonly seen: World["seen"];
}

/**
 * Runs one schedule, which follows from the seed alone: runners that freeze at every step, die, come back as zombies; messages
 * late, lost and out of order; owners away, emptied, repaired; changes of revision; recounts. Totals are read all the time:
 * each event below the copy is in them, none that live reading was not delivered yet. At rest they are exact.
 */
export function runSchedule(seed: number, rules: Partial<Rules> = {}): Outcome {
  const schedule = new Schedule(new World(seed, { ...ALL_RULES, ...rules }));
  return { wrong: schedule.run(), seen: schedule.world.seen };
}

class Schedule {
  readonly world: World;
  readonly #processes: Process[] = [];
  #lives = 0;

  constructor(world: World) {
    this.world = world;
  }

  run(): string | undefined {
    this.world.produce();
    for (let step = 0; step < STEPS; step += 1) {
      this.#step();
      const wrong = step % 10 === 0 ? this.world.wrong(false) : undefined;
      if (wrong !== undefined) return `at step ${step}: ${wrong}`;
    }
    return this.#rest() ?? this.world.wrong(true);
  }

  #step(): void {
    const { world } = this;
    const { plane } = world;
    const dice = world.pick(200);
    world.nowMs += 1;
    if (dice < 60) this.#deliver();
    else if (dice < 160) this.#advance();
    else if (dice < 172) world.produce();
    else if (dice < 178) this.#start();
    else if (dice < 181) this.#processes.splice(world.pick(this.#processes.length), 1);
    else if (dice < 184) world.revision += 1;
    else if (dice < 187) plane.toggle(world.pick(3));
    else if (dice < 189) plane.lose(world.pick(3));
    else if (dice < 195) this.#repair();
    else if (dice < 198) this.#join(recount(world));
  }

  #start(): void {
    this.#lives += 1;
    this.#join(new Runner(this.world, `life ${this.#lives}`).run(false));
  }

  #join(process: Process): void {
    if (this.#processes.length < PROCESSES) this.#processes.push(process);
  }

  /** One process takes one step: which one, so how long the others freeze, is chance. */
  #advance(): void {
    if (this.#processes.length === 0) return this.#start();
    const at = this.world.pick(this.#processes.length);
    if (this.#processes[at]?.next().done === true) this.#processes.splice(at, 1);
  }

  #deliver(): void {
    const { messages } = this.world.plane;
    if (messages.length === 0) return;
    const at = this.world.pick(messages.length);
    if (this.world.chance(10)) messages.splice(at, 1);
    else this.world.plane.deliver(at);
  }

  #repair(): void {
    const { plane, rules } = this.world;
    const lost = plane.owners.findIndex(({ state }) => state === "lost");
    const peers = [0, 1, 2].filter((owner) => owner !== lost);
    if (lost !== -1) plane.repair(lost, rules.twoPeers ? peers : [peers[this.world.pick(2)] ?? 0]);
  }

  /** Owners heal, one runner reads to the end, then what was left behind wakes up a last time. Says when that does not end. */
  #rest(): string | undefined {
    const { plane } = this.world;
    for (const [owner, { state }] of plane.owners.entries()) if (state === "down") plane.toggle(owner);
    this.#repair();
    const zombies = this.#processes.splice(0);
    this.#processes.push(new Runner(this.world, "the last life").run(true));
    if (!this.#finish()) return "the last life does not come to the end";
    this.#processes.push(...zombies);
    for (let step = 0; step < STEPS; step += 1) {
      if (this.world.chance(50)) this.#deliver();
      else if (this.#processes.length > 0) this.#advance();
    }
    this.#processes.length = 0;
    this.#processes.push(new Runner(this.world, "a life behind it").run(true));
    return this.#finish() ? undefined : "the life behind it does not come to the end";
  }

  #finish(): boolean {
    for (let step = 0; step < REST_STEPS; step += 1) {
      if (this.#processes.length === 0) {
        while (this.world.plane.messages.length > 0) this.world.plane.deliver(0);
        return true;
      }
      if (this.world.chance(60)) this.#deliver();
      else this.#advance();
    }
    return false;
  }
}
