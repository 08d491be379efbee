import type { SourceSeed } from "../config/types.ts";
import { Repeats } from "../core/repeats.ts";
import type { SourceDefinition } from "../core/source.ts";
import type { BuiltinDescriptor, DescriptorCatalog } from "../descriptors/catalog.ts";
import type { DefinitionStore, InForce } from "../definitions/definition-store.ts";
import { differences } from "../definitions/resolve.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import { KvFault } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";
import type { BackoffLimits } from "./backoff.ts";
import { backoffMs } from "./backoff.ts";
import type { SourceService } from "./source-service.ts";

export interface FleetParts {
  readonly definitions: DefinitionStore;
  readonly catalog: DescriptorCatalog;
  readonly builtins: readonly BuiltinDescriptor[];
  readonly seeds: readonly SourceSeed[];
  /**
   * Builds a source's service; starts nothing. `before`: the one that ran it until now; what it counted goes on.
   * @throws KvFault
   */
  readonly open: (inForce: InForce, before: SourceService | undefined) => Promise<SourceService>;
  readonly backoff: BackoffLimits;
  /** How often the definitions are read again, for what other instances changed, and how long a drain for it may take. */
  readonly follow?: { readonly everyMs: number; readonly drainMs: number };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Members of a definition that a source can change without leaving its group. */
const IN_PLACE: ReadonlySet<string> = new Set(["descriptor", "mapping"]);

export type FleetPhase = "starting" | "serving" | "draining";

/** All sources of this process. */
export class Fleet {
  readonly #parts: FleetParts;
  readonly #services = new Map<string, SourceService>();
  readonly #inForce = new Map<string, InForce>();
  /** The last change of each source's definition that is under way; never rejects. */
  readonly #changes = new Map<string, Promise<void>>();
  readonly #repeats = new Repeats();
  #phase: FleetPhase = "starting";

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  get phase(): FleetPhase {
    return this.#phase;
  }

  /**
   * Registers what ships with the build, loads the definitions and starts every source; waits for the KV plane as long as
   * it takes. @throws StreamsError when a definition cannot be run: the operator must know at once
   */
  async start(): Promise<void> {
    const { catalog, builtins, definitions, seeds } = this.#parts;
    const loaded = await this.#untilStored(async () => {
      await catalog.seed(builtins);
      return definitions.load(seeds);
    });
    if (!this.#stillStarting()) return;
    for (const inForce of loaded) {
      this.#inForce.set(inForce.definition.name, inForce);
      await this.#untilStored(() => this.#open(inForce));
    }
    // A signal may have come while the store was waited for.
    if (this.#stillStarting()) this.#phase = "serving";
    this.#followLater();
  }

  services(): readonly SourceService[] {
    return [...this.#services.values()];
  }

  /** @throws StreamsError SOURCE_UNKNOWN; NOT_READY before all are loaded */
  service(name: string): SourceService {
    const service = this.#services.get(name);
    if (service === undefined) throw this.#unknown(name);
    return service;
  }

  /** @throws StreamsError SOURCE_UNKNOWN; NOT_READY before all are loaded */
  inForce(name: string): InForce {
    const entry = this.#inForce.get(name);
    if (entry === undefined) throw this.#unknown(name);
    return entry;
  }

  /** The source that writes to a namespace, undefined when none does. @throws StreamsError NOT_READY before all are loaded */
  sourceOf(namespace: string): InForce | undefined {
    const found = [...this.#inForce.values()].find((entry) => entry.definition.namespace === namespace);
    if (found === undefined && this.#phase === "starting") throw notLoaded();
    return found;
  }

  /** Before all are loaded, the store may hold one of that name: a client would take "unknown" for gone. */
  #unknown(name: string): StreamsError {
    if (this.#phase === "starting") return notLoaded();
    return new StreamsError("SOURCE_UNKNOWN", `there is no source ${name}`);
  }

  /**
   * Puts a definition in force and runs the source under it: what is in flight is drained first, so each record is judged
   * under one revision. Changes of one source wait for each other: two at once would leave two consumers of one source.
   * @throws StreamsError; KvFault
   */
  async define(name: string, definition: SourceDefinition, ifMatch: string, drainMs: number): Promise<InForce> {
    return this.#inTurn(name, () => this.#define(name, definition, ifMatch, drainMs));
  }

  /**
   * Puts a source in force that there is none of, and starts it. @throws StreamsError PRECONDITION_FAILED when there is one
   * of this name, DEFINITION_CONFLICT, DESCRIPTOR_UNKNOWN, …; KvFault
   */
  async create(seed: SourceSeed): Promise<InForce> {
    return this.#inTurn(seed.name, () => this.#create(seed));
  }

  async #inTurn<T>(name: string, task: () => Promise<T>): Promise<T> {
    const before = this.#changes.get(name) ?? Promise.resolve();
    const change = before.then(task);
    const settled = change.then(
      () => undefined,
      () => undefined,
    );
    this.#changes.set(name, settled);
    return change;
  }

  async #create(seed: SourceSeed): Promise<InForce> {
    if (this.#phase !== "serving") throw new StreamsError("NOT_READY", `the service is ${this.#phase}`);
    const { name } = seed;
    if (this.#inForce.has(name)) throw new StreamsError("PRECONDITION_FAILED", `there is a source ${name} already`);
    const created = await this.#parts.definitions.create(seed);
    this.#inForce.set(name, created);
    await this.#untilStored(() => this.#open(created));
    return created;
  }

  async #define(name: string, definition: SourceDefinition, ifMatch: string, drainMs: number): Promise<InForce> {
    if (this.#phase !== "serving") throw new StreamsError("NOT_READY", `the service is ${this.#phase}`);
    const before = this.inForce(name);
    const after = await this.#inStore(name, definition, ifMatch);
    this.#inForce.set(name, after);
    const running = this.#services.get(name);
    const other = running?.parts.inForce.etag !== after.etag || running.draining;
    if (after.etag !== before.etag || other) await this.#apply(after, drainMs);
    return after;
  }

  /** Runs the source under another definition: in place where only decoding differs, otherwise after a drain. */
  async #apply(inForce: InForce, drainMs: number): Promise<void> {
    const running = this.#services.get(inForce.definition.name);
    if (running === undefined) return this.#untilStored(() => this.#open(inForce));
    const changed = differences(running.parts.inForce.definition, inForce.definition);
    if (running.draining || !changed.every((member) => IN_PLACE.has(member))) return this.#reopen(inForce, drainMs);
    await running.adopt(inForce);
    this.#parts.logger.info(
      { source: running.name, revision: inForce.revision, changed },
      "source goes on under another revision",
    );
  }

  #followLater(): void {
    const { follow, clock } = this.#parts;
    if (follow === undefined || this.#phase === "draining") return;
    clock.after(follow.everyMs, () => {
      void this.#follow(follow.drainMs).finally(() => this.#followLater());
    });
  }

  /** Does what other instances changed. Never rejects. */
  async #follow(drainMs: number): Promise<void> {
    try {
      for (const { definition, etag } of await this.#parts.definitions.list()) {
        if (this.#phase !== "serving") return;
        const { name } = definition;
        if (this.#inForce.get(name)?.etag !== etag) await this.#inTurn(name, () => this.#followOne(name, drainMs));
      }
    } catch (error) {
      const { clock, logger } = this.#parts;
      const text = error instanceof Error ? error.message : String(error);
      if (this.#repeats.note("FOLLOW", clock.monotonic()) !== undefined)
        logger.warn({}, `definitions could not be read again: ${text}`);
    }
  }

  async #followOne(name: string, drainMs: number): Promise<void> {
    const stored = await this.#parts.definitions.read(name);
    if (stored === undefined || this.#phase !== "serving" || this.#inForce.get(name)?.etag === stored.etag) return;
    this.#inForce.set(name, stored);
    await this.#apply(stored, drainMs);
  }

  /**
   * Changes the record. Where that fails it may have been changed all the same (an answer that was lost, another
   * instance): what the store says now is put in force, so that the next change begins from it.
   */
  async #inStore(name: string, definition: SourceDefinition, ifMatch: string): Promise<InForce> {
    try {
      return await this.#parts.definitions.define(name, definition, ifMatch);
    } catch (error) {
      const present = await this.#parts.definitions.read(name).catch(() => undefined);
      if (present !== undefined && present.etag !== this.inForce(name).etag) this.#inForce.set(name, present);
      throw error;
    }
  }

  /** Drains every source at the same time. Returns the partitions that could not be committed, as `source/partition`. */
  async drain(deadlineMs: number): Promise<readonly string[]> {
    this.#phase = "draining";
    const results = await Promise.all(
      this.services().map(async (service) => {
        const { uncommitted } = await service.drain(deadlineMs);
        return uncommitted.map((partition) => `${service.name}/${partition}`);
      }),
    );
    return results.flat();
  }

  async #reopen(inForce: InForce, drainMs: number): Promise<void> {
    await this.service(inForce.definition.name).drain(drainMs);
    if (this.#phase === "serving") await this.#untilStored(() => this.#open(inForce));
  }

  async #open(inForce: InForce): Promise<void> {
    const service = await this.#parts.open(inForce, this.#services.get(inForce.definition.name));
    if (this.#phase === "draining") return;
    this.#services.set(inForce.definition.name, service);
    service.start();
    const { name, topic, kind } = inForce.definition;
    this.#parts.logger.info({ source: name, topic, kind, revision: inForce.revision }, "source starts");
  }

  #stillStarting(): boolean {
    return this.#phase === "starting";
  }

  async #untilStored<T>(task: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await task();
      } catch (error) {
        if (!(error instanceof KvFault) || error.code === "KV_CLOSED") throw error;
        const { clock, logger } = this.#parts;
        const line = { code: error.code, attempt };
        if (this.#repeats.note(error.code, clock.monotonic()) !== undefined)
          logger.warn(line, `definitions are not loaded yet: ${error.message}`);
        await new Promise<void>((resolve) => {
          clock.after(backoffMs(attempt, this.#parts.backoff), resolve);
        });
      }
    }
  }
}

function notLoaded(): StreamsError {
  return new StreamsError("NOT_READY", "the sources are not loaded yet");
}
