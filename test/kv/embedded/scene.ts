import { expect, vi } from "vitest";
import type { EmbeddedPlaneLimits } from "../../../src/kv/embedded/open.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { spawnBundled } from "./bundled.ts";
import { Load, type LoadOptions, digestOf, ownerOf, reasonOf } from "./load.ts";
import { ownerPids } from "./owner-pids.ts";
import { MIB, type Site, type SiteOptions, makeSite } from "./support.ts";
import { Tamper } from "./tamper.ts";

export const WAIT = { timeout: 120_000, interval: 10 };
export const NAMES = ["a", "b", "c"] as const;
export type Name = (typeof NAMES)[number];

/** Owners come back at once, fall behind soon, have maps that must grow, and are compared only when a test asks for it. */
export const LIMITS: EmbeddedPlaneLimits = {
  retryInitialMs: 20,
  retryMaxMs: 100,
  compareSoonMs: 3_600_000,
  freeBytesMin: MIB,
  mapSizeBytes: MIB,
  pendingBytes: MIB,
  commitBytes: 256 * 1024,
  stallMs: 5_000,
  behindMs: 500,
};
const LOAD: LoadOptions = { keys: 400, batch: 20, bytes: 300 };

/** A plane under load. */
export class Scene {
  readonly site: Site;
  readonly tamper: Tamper;
  readonly load: Load;
  readonly #options: SiteOptions;
  #plane: EmbeddedPlane | undefined;

  constructor(site: Site, tamper: Tamper, options: SiteOptions, load: LoadOptions = LOAD) {
    this.site = site;
    this.tamper = tamper;
    this.#options = options;
    this.load = new Load(() => this.plane, load);
  }

  get plane(): EmbeddedPlane {
    if (this.#plane === undefined) throw new Error("the scene is not open");
    return this.#plane;
  }

  get directories(): readonly [string, string, string] {
    return this.#options.directories ?? this.site.directories;
  }

  async open(limits: EmbeddedPlaneLimits = {}): Promise<void> {
    const options = { ...this.#options, limits: { ...LIMITS, ...limits } };
    this.#plane = await this.site.open({ ...options, spawn: this.tamper.spawn });
  }

  directory(name: Name): string {
    return this.directories[NAMES.indexOf(name)] ?? "";
  }

  pid(name: Name): number | undefined {
    return ownerPids(this.directory(name)).at(-1);
  }

  /** Waits until an owner is not up for `code`, and writes have gone on without it. */
  async untilDown(name: Name, ...codes: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(codes).toContain(reasonOf(this.plane, name)), WAIT);
    await this.load.passes(5);
    for (const other of NAMES) if (other !== name) expect(reasonOf(this.plane, other)).toBe("up");
  }

  /** Waits until an owner is up; returns its incarnation. */
  async untilUp(name: Name): Promise<string> {
    await vi.waitFor(() => expect(reasonOf(this.plane, name)).toBe("up"), WAIT);
    await this.load.passes(5);
    return ownerOf(this.plane, name).incarnation;
  }

  async repaired(name: Name): Promise<void> {
    await vi.waitFor(() => this.plane.repair(name, false), WAIT);
    await this.untilUp(name);
  }

  /** Ends the load, and checks that nothing is lost and that the three are the same, byte for byte, once compared. */
  async finish(): Promise<void> {
    await this.load.stop();
    await this.load.verify();
    expect(this.load.wrong).toEqual([]);
    await this.plane.compareOwners();
    await this.plane.compareOwners();
    for (const name of NAMES) expect(ownerOf(this.plane, name)).toMatchObject({ state: "up", compared: { missed: 0 } });
    await this.plane.close();
    const [a, b, c] = await Promise.all(this.directories.map((directory) => digestOf(directory)));
    expect(b).toEqual(a);
    expect(c).toEqual(a);
  }
}

const ending: (() => Promise<void>)[] = [];

/** Ends what scenes have open; for `afterEach`. */
export async function endScenes(): Promise<void> {
  for (const end of ending.splice(0).toReversed()) await end();
}

/** Something that `endScenes` ends. */
export function atEnd(end: () => Promise<void>): void {
  ending.push(end);
}

/** A new site with a load that is not started. */
export async function newScene(load?: LoadOptions, options: SiteOptions = {}): Promise<Scene> {
  const site = makeSite();
  const scene = new Scene(site, new Tamper(await spawnBundled()), options, load);
  atEnd(async () => {
    const stopping = scene.load.stop();
    await site.destroy();
    await stopping;
  });
  return scene;
}
