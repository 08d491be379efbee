import { InvariantViolation } from "../../../src/core/invariant.ts";
import type { ResumeFrom } from "../../../src/core/partition/resume.ts";
import { seeded } from "../../support/seeded.ts";
import { Life } from "./life.ts";
import type { Core } from "./mutants.ts";
import { Broken, World } from "./world.ts";

const STEPS = 70;
const QUIET_TURNS = 60;
const RESTLESS_TURNS = 500;

type Random = (below: number) => number;

/** One partition under one seeded schedule. */
class Schedule {
  readonly #random: Random;
  readonly #world: World;
  #life: Life;
  #zombie: Life | undefined;
  /** How often each thing happened. */
  readonly seen: Record<string, number> = {};

  constructor(seed: number, core: Core) {
    this.#random = seeded(seed);
    this.#world = new World(core);
    this.#world.produce(this.#random(6), this.#random);
    this.#life = new Life(this.#world);
  }

  /** @throws Broken, InvariantViolation */
  run(): void {
    for (let step = 0; step < STEPS; step += 1) {
      this.#world.time += 1;
      const half = this.#random(2);
      if (half === 0) this.#work();
      else this.#happen();
      if (this.#life.state.phase.phase !== "gone") this.#note(this.#life.state.phase.phase);
    }
    this.#settle();
  }

  /** Something that is under way goes on: fetches, rounds, answers. */
  #work(): void {
    const life = this.#zombie !== undefined && this.#random(6) === 0 ? this.#zombie : this.#life;
    for (let turns = 1 + this.#random(8); turns > 0; turns -= 1) {
      const what = this.#random(10);
      if (what < 3 && life === this.#life) life.fetch();
      else if (what < 4) life.round();
      else if (what < 5) life.observe();
      else if (life.waiting > 0) life.turn(this.#random(life.waiting));
    }
  }

  #happen(): void {
    const [name, act] = ACTION_LIST[this.#random(ACTION_LIST.length)] ?? [];
    if (act === undefined || name === undefined) return;
    if (act(this.#world, this.#random, this.#actors())) this.#note(name);
  }

  #actors(): Actors {
    return {
      life: this.#life,
      alone: this.#zombie === undefined,
      replace: (how) => {
        if (how === "revoked") this.#life.revoke();
        if (how === "frozen") this.#zombie = this.#life;
        else if (how === "killed" && this.#random(2) === 0) this.#zombie = undefined;
        this.#world.generation += 1;
        this.#life = new Life(this.#world);
        this.#life.obey();
      },
    };
  }

  #note(name: string): void {
    this.seen[name] = (this.seen[name] ?? 0) + 1;
  }

  /** Everything heals: the partition comes to the end of its log, or stands with a stop that something was the cause of. */
  #settle(): void {
    const world = this.#world;
    Object.assign(world, { away: false, lettersAway: false, spurious: 0, paused: false });
    for (const owner of world.owners) Object.assign(owner, { up: true, slow: false });
    this.#life.obey();
    for (let turn = 0; turn < QUIET_TURNS && !(turn > 2 && this.#rests()); turn += 1) {
      world.time += 1;
      this.#life.fetch();
      this.#life.observe();
      this.#life.round();
      for (let turns = 0; this.#life.waiting > 0; turns += 1) {
        if (turns > RESTLESS_TURNS) throw new Broken("it does not come to rest");
        this.#life.turn(0);
      }
    }
    this.#judge();
  }

  /** Whether nothing more is to be expected. */
  #rests(): boolean {
    const { phase, watermark, startedAt } = this.#life.state;
    const { end, committed, stop } = this.#world;
    if (phase.phase === "stopped") return stop !== undefined;
    return phase.phase === "running" && watermark === end && (watermark === startedAt || committed === watermark);
  }

  #judge(): void {
    const world = this.#world;
    const { phase, watermark, startedAt, position } = this.#life.state;
    if (phase.phase === "stopped") {
      if (!world.causes.has(phase.stop.code))
        throw new Broken(`stopped as ${phase.stop.code}, and nothing was the cause`);
      if (world.stop === undefined) throw new Broken("I13: a stop is not stored");
      return;
    }
    const text = `${phase.phase} at ${position}, watermark ${watermark}, log [${world.logStart}, ${world.end})`;
    if (world.log !== world.accepted) throw new Broken(`I5: another log is read as if nothing was: ${text}`);
    if (phase.phase !== "running" || watermark !== world.end) throw new Broken(`it does not come to the end: ${text}`);
    if (watermark > (startedAt ?? 0) && world.committed !== watermark) throw new Broken(`not committed: ${text}`);
    world.requireAccounted(world.end);
  }
}

interface Actors {
  readonly life: Life;
  /** No process is frozen. */
  readonly alone: boolean;
  /** Another life takes its place. */
  readonly replace: (how: "killed" | "revoked" | "frozen") => void;
}

/**
 * Whether the log can be recognised: its owner has read a copy, or nobody has applied anything. Between the first write and the
 * first copy, and where a frozen process writes the first copy, nobody can tell that the log is another one.
 */
function knowsItsLog({ copy }: World, { state }: Life): boolean {
  const { phase } = state.phase;
  const isBehind = phase !== "starting" && phase !== "verifying" && (state.watermark ?? 0) < (copy?.watermark ?? 0);
  if (copy !== undefined) return state.copied !== undefined && copy.fingerprint !== undefined && !isBehind;
  return state.inFlight.length === 0 && (state.watermark ?? 0) === (state.startedAt ?? 0);
}

/** What can happen to the world. Each says whether it did. */
const ACTIONS: Readonly<Record<string, (world: World, random: Random, actors: Actors) => boolean>> = {
  produced: (world, random) => {
    world.produce(1 + random(9), random);
    return true;
  },
  "left a hole": (world, random) => {
    if (!world.holesAllowed) return false;
    world.end += 1 + random(3);
    return true;
  },
  retained: (world, random) => {
    if (world.log !== world.accepted || random(3) > 0) return false;
    world.retain(world.logStart + random(world.end - world.logStart + 1));
    return true;
  },
  "was elected uncleanly": (world, random, { life, alone }) => {
    if (random(8) > 0 || !knowsItsLog(world, life) || !alone) return false;
    const to = world.end - random(6);
    // What cuts holes and control records alone leaves nothing to recognise it by: a limit that is known.
    const known = life.state.fingerprint?.offset ?? world.copy?.fingerprint?.offset ?? -1;
    const { watermark = 0, fingerprint } = world.copy ?? {};
    const isBelowCopy = to < watermark && to > (fingerprint?.offset ?? -1);
    const isBlind = isBelowCopy || known < world.logStart || !world.records.some(({ offset }) => offset >= to);
    if (isBlind) return false;
    world.electUnclean(to);
    return true;
  },
  "was created again": (world, random, { life, alone }) => {
    if (random(10) > 0 || !knowsItsLog(world, life) || !alone) return false;
    world.recreate();
    return true;
  },
  "lost its group": (world, random) => {
    if (random(8) > 0) return false;
    world.committed = undefined;
    for (const code of ["COMMIT_VANISHED", "TOPIC_RECREATED"] as const) world.causes.add(code);
    return true;
  },
  "had its commit moved": (world, random) => {
    if (random(6) > 0 || world.committed === undefined) return false;
    const to = world.logStart + random(world.end - world.logStart + 1);
    if (to <= world.committed) world.mayLower = true;
    for (const code of ["COMMIT_MOVED", "BELOW_LOG_START"] as const) world.causes.add(code);
    world.committed = to;
    world.movedUnseen = true;
    return true;
  },
  "went away": (world, random) => {
    world.away = random(2) === 0;
    return true;
  },
  "lost its letters": (world, random) => {
    world.lettersAway = random(2) === 0;
    return true;
  },
  "had an owner down": (world, random) => {
    const owner = world.owners[random(3)];
    if (owner !== undefined) owner.up = !owner.up;
    return true;
  },
  "had an owner slow": (world, random) => {
    const owner = world.owners[random(3)];
    if (owner !== undefined) owner.slow = random(2) === 0;
    return true;
  },
  "lost an owner": (world, random) => {
    world.loseOwner(random(3));
    return true;
  },
  "was denied": (world, random) => {
    if (random(4) > 0) return false;
    world.spurious += 1 + random(5);
    world.causes.add("OFFSET_DISPUTED");
    return true;
  },
  "was killed": (_world, _random, { replace }) => {
    replace("killed");
    return true;
  },
  "was revoked": (_world, _random, { replace }) => {
    replace("revoked");
    return true;
  },
  "was frozen": (_world, random, { replace }) => {
    if (random(3) > 0) return false;
    replace("frozen");
    return true;
  },
  "was paused": (world, random, { life }) => {
    world.paused = random(3) === 0;
    life.obey();
    return true;
  },
  "was resumed": (world, random, actors) => resume(world, random, actors),
};

const ACTION_LIST = Object.entries(ACTIONS);

function resume(world: World, random: Random, { replace }: Actors): boolean {
  const { standing, copy, startRecord, committed } = world;
  if (standing === undefined) return false;
  const points: readonly ResumeFrom[] = [
    "copy",
    "committed",
    "log-start",
    world.logStart + random(world.end - world.logStart + 2),
  ];
  const unread = world.epoch > 0 && startRecord === undefined && copy === undefined;
  const bounds = { logStart: world.logStart, end: world.end };
  const decision = world.core.decideResume(
    {
      stop: standing.stop,
      reach: standing.reach,
      start: { startRecord, committed, copy, bounds, unread },
      sourceStop: undefined,
      old: true,
    },
    { from: points[random(4)] ?? "copy", ...(random(2) === 0 ? {} : { acceptLoss: { from: 0, toMax: world.end } }) },
  );
  if (decision.decision === "needs-epoch") {
    if (random(2) === 0) return false;
    world.openEpoch();
  } else if (decision.decision === "resume") {
    world.stop = undefined;
    world.clearedSince = standing.since;
    world.startRecord = decision.start;
    world.gaps.push(...decision.passedOver);
    world.mayLower = true;
  } else return false;
  replace("revoked");
  return true;
}

/** Runs one schedule. `wrong`: the promise that was broken, undefined when none was. */
export function runSchedule(
  seed: number,
  core: Core,
): { readonly wrong?: string; readonly seen: Readonly<Record<string, number>> } {
  const schedule = new Schedule(seed, core);
  try {
    schedule.run();
    return { seen: schedule.seen };
  } catch (error) {
    if (error instanceof Broken || error instanceof InvariantViolation)
      return { wrong: error.message, seen: schedule.seen };
    throw error;
  }
}
