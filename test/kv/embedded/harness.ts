import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import type { SpawnOwner } from "../../../src/kv/embedded/owner-process.ts";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import type { OwnerFaults, PlaneHarness } from "../contract.ts";
import { MemoryOwners } from "./memory-owner.ts";
import { makeSite } from "./support.ts";
import { Tamper } from "./tamper.ts";

const WAIT = { timeout: 20_000, interval: 3 };
/** Owners come back at once, and are compared by nobody, so that what one of them lacks stays so. */
const LIMITS = { retryInitialMs: 3, retryMaxMs: 20, compareSoonMs: 3_600_000 };
const NAMES = ["a", "b", "c"] as const;

/** The embedded plane for the contract suite, over owners that `spawn` starts. */
export async function openHarness(writeAcks: 2 | 3, bodyBytesMax: number, spawn: SpawnOwner): Promise<PlaneHarness> {
  const site = makeSite();
  const away = new Set<string>();
  const tamper = new Tamper((setup, events) => (away.has(setup.owner) ? refuse(events) : spawn(setup, events)));
  const open = (): Promise<EmbeddedPlane> =>
    site.open({ writeAcks, spawn: tamper.spawn, limits: { ...LIMITS, bodyBytesMax } });
  let plane = await open();
  const use = { plane: (): EmbeddedPlane => plane, tamper, away, directories: site.directories };
  return {
    get plane() {
      return plane;
    },
    async restart() {
      await plane.close();
      plane = await open();
      return plane;
    },
    destroy: () => site.destroy(),
    owners: faultsOf(use),
  };
}

interface Use {
  readonly plane: () => EmbeddedPlane;
  readonly tamper: Tamper;
  readonly away: Set<string>;
  readonly directories: readonly [string, string, string];
}

function faultsOf({ plane, tamper, away, directories }: Use): OwnerFaults {
  const stateOf = (name: string): string | undefined =>
    plane()
      .owners()
      .find(({ owner }) => owner === name)?.state;
  const whenUp = (name: string): Promise<void> => vi.waitFor(() => expect(stateOf(name)).toBe("up"), WAIT);
  const restore = async (name: string): Promise<void> => {
    away.delete(name);
    await whenUp(name);
  };
  const lose = (name: string): void => {
    away.add(name);
    tamper.crash(name);
  };
  const cancelLoss = (): void => {
    tamper.onSend = () => undefined;
    tamper.onAnswer = () => undefined;
  };
  return {
    names: NAMES,
    lose: async (name) => {
      lose(name);
      await vi.waitFor(() => expect(stateOf(name)).not.toBe("up"), WAIT);
    },
    restore,
    whenUp,
    cancelLoss,
    async wipe(name) {
      lose(name);
      rmSync(join(directories[NAMES.findIndex((one) => one === name)] ?? "", DATA_FILE));
      away.delete(name);
      await vi.waitFor(() => expect(stateOf(name)).toBe("lost"), WAIT);
    },
    loseAt(name, step, nth) {
      let seen = 0;
      const count = (owner: string): "drop" | undefined => {
        if (owner !== name || seen === nth) return undefined;
        seen += 1;
        if (seen < nth) return undefined;
        lose(name);
        return "drop";
      };
      if (step === "asked") tamper.onSend = count;
      else tamper.onAnswer = count;
      return () => seen === nth;
    },
    ...partialWrites({ tamper, lose, restore, cancelLoss }),
  };
}

/** Writes that do not reach everybody. */
function partialWrites({
  tamper,
  lose,
  restore,
  cancelLoss,
}: {
  readonly tamper: Tamper;
  readonly lose: (name: string) => void;
  readonly restore: (name: string) => Promise<void>;
  readonly cancelLoss: () => void;
}): Pick<OwnerFaults, "strand" | "without"> {
  return {
    async strand(name, call) {
      const others = NAMES.filter((one) => one !== name);
      const before = tamper.answers(name, "committed");
      tamper.onSend = (owner, message) => (message.kind === "write" && owner !== name ? "drop" : undefined);
      const calling = expect(call()).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
      await vi.waitFor(() => expect(tamper.answers(name, "committed")).toBeGreaterThan(before), WAIT);
      for (const other of others) lose(other);
      cancelLoss();
      await calling;
      for (const other of others) await restore(other);
    },
    async without(name, call) {
      tamper.onSend = (owner, message) => (message.kind === "write" && owner === name ? "drop" : undefined);
      await call();
      lose(name);
      cancelLoss();
      await restore(name);
    },
  };
}

function refuse(events: Parameters<SpawnOwner>[1]): ReturnType<SpawnOwner> {
  let over = false;
  setImmediate(() => {
    const reason = { code: "OWNER_READ_ONLY", text: "the test keeps it away" } as const;
    if (!over) events.message({ kind: "failed", reason }, Buffer.alloc(0));
  });
  return {
    send: (_message, _body, written) => written?.(),
    kill: () => {
      over = true;
    },
  };
}

/** Owners in memory that handle and answer by themselves, as soon as others had a turn. */
export function promptOwners(spanBytesMax = 1024 * 1024): SpawnOwner {
  const owners = new MemoryOwners(new Map(), { spanBytesMax, answersMax: 10_000 });
  let scheduled = false;
  const run = (): void => {
    scheduled = false;
    for (const turn of owners.turns()) owners.take(turn);
    if (owners.turns().length > 0) schedule();
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(run);
  };
  return (setup, events) => {
    const process = owners.spawn(setup, events);
    schedule();
    return {
      kill: () => process.kill(),
      send: (message, body, written) => {
        process.send(message, body, written);
        schedule();
      },
    };
  };
}
