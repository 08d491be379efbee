import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type OrderedBytes, compareOrdered } from "../../../src/core/cell.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { type CellWrite, KvFault } from "../../../src/ports/kv-plane.ts";
import { spawnBundled } from "./bundled.ts";
import { type Site, bringBack, makeSite, takeAway, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

const KEYS = 3;
const NAMES = ["a", "b", "c"] as const;
type Index = 0 | 1 | 2;
const WAIT = { timeout: 10_000, interval: 2 };

type Change = readonly [key: number, order: number, byte: number];

/** One stretch of a deployment's life; what is undefined does not happen. Orders grow from episode to episode. */
interface Episode {
  /** Whose directory is away at first. */
  readonly away: Index | undefined;
  readonly writes: readonly (readonly Change[])[];
  /** An owner that alone gets one more write, because the others die of it. */
  readonly strand: { readonly owner: Index; readonly change: Change } | undefined;
  /** Restart with all owners and read. */
  readonly readWhole: boolean;
  /** Whose directory is away after one more restart, and who goes down then, before the last read. */
  readonly awayThen: Index | "stranded" | undefined;
  readonly lose: Index | "third" | undefined;
}

const index = fc.constantFrom<Index>(0, 1, 2);
const maybe = fc.option(index, { nil: undefined, freq: 3 });
const change = fc.tuple(fc.nat(KEYS - 1), fc.nat(3), fc.nat(3));
const episodes: fc.Arbitrary<readonly Episode[]> = fc.array(
  fc.record({
    away: maybe,
    writes: fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 4 }),
    strand: fc.option(fc.record({ owner: index, change }), { nil: undefined, freq: 3 }),
    readWhole: fc.boolean(),
    awayThen: fc.constantFrom<Episode["awayThen"]>(undefined, "stranded", "stranded", 0, 1, 2),
    lose: fc.constantFrom<Episode["lose"]>(undefined, undefined, "third", 0, 1, 2),
  }),
  { minLength: 2, maxLength: 2 },
);

/** The plane under test beside what must be true of it. */
class Model {
  readonly #site: Site = makeSite();
  /** Per key: the least that a read may answer, from acknowledged writes and earlier reads. */
  readonly #least = new Map<number, OrderedBytes>();
  /** Per key: everything that was ever sent. */
  readonly #sent = new Map<number, OrderedBytes[]>();
  #tamper: Tamper | undefined;
  #plane: EmbeddedPlane | undefined;
  #away: Index | undefined;

  async run(plan: readonly Episode[]): Promise<void> {
    try {
      await this.#restart(undefined);
      for (const [number, episode] of plan.entries()) await this.#live(episode, 1 + number * 4);
      await this.#restart(undefined);
      await this.#read();
    } finally {
      await this.#site.destroy();
    }
  }

  async #live(episode: Episode, base: number): Promise<void> {
    const { away, writes, strand, readWhole } = episode;
    const awayThen = episode.awayThen === "stranded" ? strand?.owner : episode.awayThen;
    const third = ([0, 1, 2] as const).find((owner) => owner !== away && owner !== awayThen);
    const lose = episode.lose === "third" ? third : episode.lose;
    const lift = ([key, order, byte]: Change, more = 0): Change => [key, base + order + more, byte];
    await this.#restart(away);
    for (const changes of writes) await this.#write(changes.map((made) => lift(made)));
    if (strand !== undefined) await this.#strand(strand.owner, lift(strand.change, 2));
    if (readWhole) {
      await this.#restart(undefined);
      await this.#read();
    }
    await this.#restart(awayThen);
    if (lose !== undefined) this.#tamper?.crash(NAMES[lose]);
    await this.#read();
  }

  async #write(cells: readonly Change[]): Promise<void> {
    const batch = cells.map(([key, order, byte]) => toCell(key, order, byte));
    for (const [at, [key]] of cells.entries()) {
      const sent = batch[at];
      if (sent !== undefined) this.#sent.set(key, [...(this.#sent.get(key) ?? []), sent]);
    }
    if (!(await succeeds(this.#plane?.write(batch)))) return;
    for (const [at, [key]] of cells.entries()) this.#raise(key, batch[at]);
  }

  async #read(): Promise<void> {
    const keys = Array.from({ length: KEYS }, (_, key) => key);
    const reading = this.#plane?.restore(keys.map((key) => toCell(key, 0, 0)));
    if (!(await succeeds(reading))) return;
    for (const [key, answer] of ((await reading) ?? []).entries()) {
      const least = this.#least.get(key);
      if (least !== undefined) {
        if (answer === undefined) throw new Error(`key ${key} is gone`);
        expect(compareOrdered(answer, least)).toBeGreaterThanOrEqual(0);
      }
      if (answer === undefined) continue;
      expect((this.#sent.get(key) ?? []).some((sent) => compareOrdered(sent, answer) === 0)).toBe(true);
      this.#raise(key, answer);
    }
  }

  async #strand(owner: Index, stranded: Change): Promise<void> {
    const tamper = this.#tamper;
    if (tamper === undefined || this.#plane?.owners()[owner]?.state !== "up") return;
    for (const other of [0, 1, 2] as const) await this.#flushed(other);
    tamper.onSend = (to, message) => (message.kind === "write" && to !== NAMES[owner] ? "drop" : undefined);
    const before = tamper.answers(NAMES[owner], "committed");
    const writing = this.#write([stranded]);
    await vi.waitFor(() => expect(tamper.answers(NAMES[owner], "committed")).toBeGreaterThan(before), WAIT);
    for (const other of NAMES) if (other !== NAMES[owner]) tamper.crash(other);
    await writing;
  }

  async #restart(away: Index | undefined): Promise<void> {
    await this.#plane?.close();
    if (this.#away !== undefined) bringBack(this.#site, this.#away);
    this.#away = this.#plane === undefined ? undefined : away;
    if (this.#away !== undefined) takeAway(this.#site, this.#away);
    this.#tamper = new Tamper(await spawnBundled());
    this.#plane = await this.#site.open({ spawn: this.#tamper.spawn });
  }

  /** Waits until an owner has nothing waiting: a thread that is ended inside a transaction would keep its store locked. */
  async #flushed(owner: Index): Promise<void> {
    await vi.waitFor(() => expect(this.#plane?.owners()[owner]?.pendingBytes).toBe(0), WAIT);
  }

  #raise(key: number, value: OrderedBytes | undefined): void {
    const least = this.#least.get(key);
    if (value !== undefined && (least === undefined || compareOrdered(value, least) > 0)) this.#least.set(key, value);
  }
}

function toCell(key: number, order: number, byte: number): CellWrite {
  return { space: "slot", key: text(`key ${key}`), order, bytes: Uint8Array.of(byte) };
}

/** Whether it worked; a KvFault is a refusal, anything else a failure of the test. */
async function succeeds(promise: Promise<unknown> | undefined): Promise<boolean> {
  try {
    await promise;
    return true;
  } catch (error) {
    if (error instanceof KvFault) return false;
    throw error;
  }
}

describe("any interleaving of writes, losses, restarts and reads", () => {
  it("keeps what was acknowledged, and no read goes backwards", async () => {
    await fc.assert(
      fc.asyncProperty(episodes, (plan) => new Model().run(plan)),
      { seed: 1, numRuns: 2, endOnFailure: true },
    );
  }, 60_000);
});
