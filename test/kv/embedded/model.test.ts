import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type OrderedBytes, compareOrdered } from "../../../src/core/cell.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { type CellWrite, KvFault } from "../../../src/ports/kv-plane.ts";
import { spawnBundled } from "./bundled.ts";
import { type Site, bringBack, makeSite, takeAway, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

const KEYS = 4;
const NAMES = ["a", "b", "c"] as const;
type Index = 0 | 1 | 2;

type Step =
  | { readonly step: "write"; readonly cells: readonly (readonly [key: number, order: number, byte: number])[] }
  | { readonly step: "read" }
  /** The owner goes down and stays so until a restart. */
  | { readonly step: "lose"; readonly owner: Index }
  /** A write that reaches this owner alone, because the others die of it. */
  | { readonly step: "strand"; readonly owner: Index; readonly cell: readonly [number, number, number] }
  /** A restart, with one owner's directory away or with all of them there. */
  | { readonly step: "restart"; readonly away: Index | undefined };

const index = fc.constantFrom<Index>(0, 1, 2);
const cell = fc.tuple(fc.nat(KEYS - 1), fc.integer({ min: 1, max: 12 }), fc.nat(3));
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ step: fc.constant("write" as const), cells: fc.array(cell, { maxLength: 6 }) }),
    },
    { weight: 4, arbitrary: fc.record({ step: fc.constant("read" as const) }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant("lose" as const), owner: index }) },
    { weight: 2, arbitrary: fc.record({ step: fc.constant("strand" as const), owner: index, cell }) },
    {
      weight: 3,
      arbitrary: fc.record({ step: fc.constant("restart" as const), away: fc.option(index, { nil: undefined }) }),
    },
  ),
  { minLength: 6, maxLength: 18 },
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

  async run(plan: readonly Step[]): Promise<void> {
    try {
      await this.#restart(undefined);
      for (const step of plan) await this.#take(step);
      await this.#restart(undefined);
      await this.#read();
    } finally {
      await this.#site.destroy();
    }
  }

  async #take(step: Step): Promise<void> {
    switch (step.step) {
      case "write":
        return this.#write(step.cells);
      case "read":
        return this.#read();
      case "lose":
        await this.#flushed(step.owner);
        return this.#tamper?.crash(NAMES[step.owner]);
      case "strand":
        return this.#strand(step.owner, step.cell);
      case "restart":
        return this.#restart(step.away);
    }
  }

  async #write(cells: readonly (readonly [number, number, number])[]): Promise<void> {
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

  async #strand(owner: Index, stranded: readonly [number, number, number]): Promise<void> {
    const tamper = this.#tamper;
    if (tamper === undefined) return;
    for (const other of [0, 1, 2] as const) await this.#flushed(other);
    tamper.onSend = (to, message) => {
      if (message.kind === "write" && to !== NAMES[owner]) tamper.crash(to);
    };
    await this.#write([stranded]);
    tamper.onSend = () => undefined;
    await this.#flushed(owner);
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
    await vi.waitFor(() => expect(this.#plane?.owners()[owner]?.pendingBytes).toBe(0));
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
      fc.asyncProperty(steps, (plan) => new Model().run(plan)),
      { seed: 20_261_201, numRuns: 12, endOnFailure: true },
    );
  });
});
