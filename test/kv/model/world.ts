import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamsError } from "../../../src/errors.ts";
import { openWith } from "../../../src/kv/embedded/open.ts";
import type { EmbeddedPlane } from "../../../src/kv/embedded/plane.ts";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";
import { type CellWrite, KvFault } from "../../../src/ports/kv-plane.ts";
import { MemoryOwners, type MemoryStore, type Turn, storeAt } from "../embedded/memory-owner.ts";
import { memoryLogger } from "../embedded/support.ts";
import { CellOracle } from "./cell-oracle.ts";
import { type Command, type Index, KEYS, NAMES, RECORDS, type Schedule } from "./commands.ts";
import { ControlOracle } from "./control-oracle.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** Small enough that a few cells make writers wait, merging pause, and walks take many spans. */
const LIMITS = {
  pendingBytes: 150,
  stallMs: 400,
  behindMs: 300,
  closeMs: 200,
  retryInitialMs: 10,
  retryMaxMs: 40,
  mergeBytesPerSecond: 4_000,
  compareBytesPerSecond: 4_000,
  compareEveryMs: 700,
  compareSoonMs: 120,
};
const OWNERS = { spanBytesMax: 60, answersMax: 2 };
const INDEXES = [0, 1, 2] as const;
const ROUNDS_MAX = 600;

/** The plane over owners in memory, beside what must be true of it. */
export class World {
  readonly #root = mkdtempSync(join(tmpdir(), "ysearch-kv-model-"));
  readonly #directories = [join(this.#root, "a"), join(this.#root, "b"), join(this.#root, "c")] as const;
  readonly #disks = new Map<string, MemoryStore>();
  readonly #cells = new CellOracle();
  readonly #records = Array.from({ length: RECORDS }, () => new ControlOracle());
  readonly #faults: unknown[] = [];
  /** Owners whose data was destroyed, with the incarnation that it had. */
  readonly #broken = new Map<Index, string>();
  readonly #writeAcks: 2 | 3;
  #clock = new ManualClock();
  #owners = new MemoryOwners(this.#disks, OWNERS);
  #plane: EmbeddedPlane | undefined;
  #random = 1;

  constructor(writeAcks: 2 | 3) {
    this.#writeAcks = writeAcks;
  }

  /** Runs a schedule to its end. @throws at the first thing that may not be */
  async run({ commands, reckless }: Schedule): Promise<void> {
    try {
      await this.#open();
      for (const command of commands) {
        await this.#execute(command, reckless);
        await turn();
        this.#check();
      }
      await this.#finish(reckless);
    } finally {
      this.#owners.vanish();
      if (this.#plane !== undefined) await this.#until(this.#plane.close());
      rmSync(this.#root, { recursive: true, force: true });
    }
  }

  async #execute(command: Command, reckless: boolean): Promise<void> {
    switch (command.kind) {
      case "write":
        return this.#write(command.cells, command.receipts);
      case "restore":
        return this.#restore();
      case "scan":
        return this.#call(this.#scan(command.limit), () => undefined);
      case "set":
        return this.#set(command.record, command.back);
      case "read":
        return this.#read(command.record);
      case "list":
        return this.#list(command.limit);
      case "turns":
        this.#random = command.seed;
        return await this.#turns(command.count, command.owner);
      case "time":
        for (let timer = 0; timer < command.timers; timer += 1) {
          this.#clock.next();
          await turn();
        }
        return;
      case "restart":
        return await this.#restart(command.kill);
      case "compare":
        return this.#call(this.#opened.compareOwners(), () => undefined);
      case "crash":
        return this.#owners.crash(NAMES[command.owner]);
      case "leave":
        this.#owners.away.add(NAMES[command.owner]);
        return this.#owners.crash(NAMES[command.owner]);
      case "return":
        this.#owners.away.delete(NAMES[command.owner]);
        return;
      case "repair":
        return this.#repair(command.owner, reckless);
      default:
        if (this.#mayBreak(command.owner, reckless)) this.#destroy(command.kind, command.owner);
    }
  }

  #write(changes: readonly (readonly [number, number, number])[], receipts: boolean): void {
    const batch = changes.map(([key, order, byte]) => toCell(key, order, byte));
    const least = batch.map((cell) => this.#cells.least(nameOf(cell)));
    for (const cell of batch) this.#cells.sent(nameOf(cell), cell);
    if (receipts) {
      this.#call(this.#opened.writeWithReceipts(batch), (answers) => {
        for (const [index, cell] of batch.entries()) {
          const receipt = answers[index];
          if (receipt === undefined) throw new Error("a receipt is missing");
          this.#cells.receipt(nameOf(cell), cell, least[index], receipt);
        }
      });
      return;
    }
    this.#call(this.#opened.write(batch), ({ count, owners }) => {
      if (count < this.#writeAcks || new Set(owners).size !== count) throw new Error(`acks of ${owners.join(", ")}`);
      for (const cell of batch) this.#cells.raise(nameOf(cell), cell);
    });
  }

  #restore(): void {
    const addresses = Array.from({ length: KEYS }, (_, key) => toCell(key, 0, 0));
    const least = addresses.map((address) => this.#cells.least(nameOf(address)));
    this.#call(this.#opened.restore(addresses), (answers) => {
      for (const [key, address] of addresses.entries()) this.#cells.read(nameOf(address), least[key], answers[key]);
    });
  }

  /** Pages of the slots; each of them is a read of all that it covers. */
  async #scan(limit: number): Promise<void> {
    const plane = this.#opened;
    let from: Uint8Array | undefined = Buffer.from("k");
    while (from !== undefined) {
      const first = Buffer.from(from);
      const names = Array.from({ length: KEYS }, (_, key) => toCell(key, 0, 0))
        .filter(({ space, key }) => space === "slot" && first.compare(key) <= 0)
        .map(nameOf);
      const least = new Map(names.map((name) => [name, this.#cells.least(name)]));
      const { cells, next } = await plane.scan({ space: "slot", from, to: Buffer.from("l"), limit });
      const answers = new Map(cells.map((cell) => [Buffer.from(cell.key).toString(), cell]));
      const covered = names.filter((name) => next === undefined || Buffer.from(name).compare(next) < 0);
      for (const name of covered) this.#cells.read(name, least.get(name), answers.get(name));
      if ([...answers.keys()].join() !== covered.filter((name) => answers.has(name)).join() || cells.length > limit) {
        throw new Error(`scanned ${[...answers.keys()].join()} in pages of ${limit}`);
      }
      from = next;
    }
  }

  #set(record: number, back: number): void {
    const oracle = this.#record(record);
    const moment = oracle.now();
    const expected = oracle.tag(back);
    const number = oracle.begin(expected);
    const setting = this.#opened.control.compareAndSet(recordName(record), expected, Buffer.from(`${number}`));
    this.#call(
      setting,
      (outcome) => oracle.end(number, expected, moment, outcome),
      () => oracle.end(number, expected, moment, undefined),
    );
  }

  #read(record: number): void {
    const oracle = this.#record(record);
    const moment = oracle.now();
    this.#call(this.#opened.control.read(recordName(record)), (answer) => oracle.observe(moment, answer));
  }

  #list(limit: number): void {
    const all = Array.from({ length: RECORDS }, (_, record) => recordName(record)).toSorted();
    const due = this.#records.flatMap((oracle, record) => (oracle.present ? [recordName(record)] : []));
    this.#call(this.#opened.control.list("r/", limit), (names) => {
      const sorted = [...new Set(names)].toSorted();
      if (names.length > limit || sorted.join() !== names.join()) throw new Error(`listed ${names.join()}`);
      if (names.some((name) => !all.includes(name))) throw new Error(`listed ${names.join()}, which nobody wrote`);
      const last = names.length < limit ? undefined : names.at(-1);
      const missing = due.filter((name) => !names.includes(name) && (last === undefined || name < last));
      if (missing.length > 0) throw new Error(`not listed: ${missing.join()} among ${names.join()}`);
    });
  }

  /** What is repaired loses what it holds. */
  #repair(owner: Index, reckless: boolean): void {
    if (!this.#broken.has(owner)) {
      if (!this.#mayBreak(owner, reckless)) return;
      // It may be void by then, and is good again once it counts.
      const refused = (): void => {
        this.#broken.set(owner, "refused");
      };
      this.#broken.set(owner, this.#incarnation(owner));
      this.#call(this.#opened.repair(NAMES[owner], false), () => undefined, refused);
      return;
    }
    this.#call(this.#opened.repair(NAMES[owner], false), () => undefined);
  }

  #incarnation(owner: Index): string {
    const store = storeAt(this.#disks, this.#directories[owner]);
    return store?.identity?.membership.incarnations[NAMES[owner]] ?? "";
  }

  #mayBreak(owner: Index, reckless: boolean): boolean {
    for (const [broken, incarnation] of this.#broken) {
      const status = this.#opened.owners()[broken];
      if (status?.state === "up" && status.incarnation !== incarnation) this.#broken.delete(broken);
    }
    return reckless || (this.#broken.size === 0 && !this.#owners.away.has(NAMES[owner]));
  }

  #destroy(how: "wipe" | "rot" | "misflush", owner: Index): void {
    const store = storeAt(this.#disks, this.#directories[owner]);
    const status = this.#opened.owners()[owner];
    if (store === undefined || status === undefined) return;
    const incarnation = this.#incarnation(owner);
    if (how === "misflush") {
      if (this.#opened.owners().some(({ state }) => state !== "up")) return;
      this.#forgetOnceVoid(owner, status.incarnation, store);
      this.#owners.fail(NAMES[owner], { code: "OWNER_IO", text: "Input/output error" });
    } else if (how === "wipe") rmSync(join(this.#directories[owner], DATA_FILE));
    else if (!store.damage()) return;
    this.#broken.set(owner, incarnation);
  }

  /** What a failed flush may have lost is gone once the others know that its acks are void. */
  #forgetOnceVoid(owner: Index, incarnation: string, store: MemoryStore): void {
    const says = (index: Index): boolean =>
      storeAt(this.#disks, this.#directories[index])?.identity?.membership.incarnations[NAMES[owner]] === incarnation;
    this.#owners.onHandled = () => {
      const others = INDEXES.filter((index) => index !== owner);
      if (others.some(says)) return;
      this.#owners.onHandled = () => undefined;
      if (says(owner)) store.forget();
    };
  }

  async #restart(kill: boolean): Promise<void> {
    if (kill) this.#owners.vanish();
    await this.#until(this.#opened.close());
    await this.#open();
  }

  async #open(): Promise<void> {
    const { away } = this.#owners;
    this.#owners = new MemoryOwners(this.#disks, OWNERS);
    // At the very first start all three must be there, or there is no deployment.
    if (this.#plane !== undefined) for (const name of away) this.#owners.away.add(name);
    this.#clock = new ManualClock();
    this.#plane = await this.#until(
      openWith(
        {
          directories: this.#directories,
          writeAcks: this.#writeAcks,
          limits: LIMITS,
          clock: this.#clock,
          logger: memoryLogger(),
        },
        this.#owners.spawn,
      ),
    );
  }

  /** Brings everybody back and reads everything; then all three must hold the same. */
  async #finish(reckless: boolean): Promise<void> {
    this.#owners.away.clear();
    for (let round = 0; !this.#isWell(); round += 1) {
      if (round === ROUNDS_MAX) {
        if (reckless) return;
        throw new Error(`the owners do not come back: ${JSON.stringify(this.#opened.owners())}`);
      }
      await this.#turns(100, undefined);
      for (const [index, { reason }] of this.#opened.owners().entries()) {
        const name = NAMES[index];
        const lost = reason?.code === "OWNER_EMPTY" || reason?.code === "OWNER_CORRUPT";
        if (lost && name !== undefined && round % 5 === 0)
          this.#call(this.#opened.repair(name, false), () => undefined);
      }
      // Whose file was removed notices it at the next write.
      if (round % 10 === 0) this.#write([[0, 0, 0]], false);
      this.#clock.next();
      this.#check();
    }
    await this.#until(this.#opened.compareOwners());
    this.#restore();
    this.#call(this.#scan(1), () => undefined);
    for (let record = 0; record < RECORDS; record += 1) this.#read(record);
    this.#list(RECORDS + 1);
    await this.#turns(2_000, undefined);
    await this.#until(this.#opened.compareOwners());
    this.#check();
    if (!this.#isWell()) return await this.#finish(reckless);
    const [a, b, c] = this.#directories.map((directory) => contents(storeAt(this.#disks, directory)));
    if (a !== b || a !== c) throw new Error(`the owners differ:\n${a ?? ""}\n${b ?? ""}\n${c ?? ""}`);
  }

  #isWell(): boolean {
    return (
      this.#owners.turns().length === 0 &&
      this.#opened.owners().every(({ state }) => state === "up") &&
      INDEXES.every((index) => storeAt(this.#disks, this.#directories[index]) !== undefined)
    );
  }

  async #turns(count: number, owner: Index | undefined): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      if (this.#possible(owner).length === 0) await turn();
      const possible = this.#possible(owner);
      const taken = possible[this.#draw(possible.length)];
      if (taken === undefined) return;
      this.#owners.take(taken);
      // Several answers may arrive before anybody gets to think about the first.
      if (this.#draw(4) > 0) await turn();
    }
    await turn();
  }

  #possible(owner: Index | undefined): readonly Turn[] {
    return this.#owners.turns().filter((one) => owner === undefined || one.owner === NAMES[owner]);
  }

  async #until<Result>(task: Promise<Result>): Promise<Result> {
    const state = { over: false };
    const settle = (): void => {
      state.over = true;
    };
    task.then(settle, settle);
    for (let idle = 0; !state.over;) {
      const possible = this.#owners.turns();
      const taken = possible[this.#draw(possible.length)];
      if (taken !== undefined) this.#owners.take(taken);
      idle = taken === undefined ? idle + 1 : 0;
      if (idle > 0 && idle % 20 === 0) this.#clock.next();
      await turn();
    }
    return await task;
  }

  /** Begins a call; what it answers is judged when it does. A KvFault or a refused repair is an answer like another. */
  #call<Answer>(
    calling: Promise<Answer>,
    judge: (answer: Answer) => void,
    refused: () => void = () => undefined,
  ): void {
    const note = (error: unknown): void => {
      this.#faults.push(error);
    };
    calling
      .then(judge, (error: unknown) => {
        const isRefusal =
          error instanceof KvFault || (error instanceof StreamsError && error.code === "KV_REPAIR_REFUSED");
        if (!isRefusal) throw error;
        refused();
      })
      .catch(note);
  }

  #check(): void {
    if (this.#faults.length > 0) throw this.#faults[0];
  }

  #record(record: number): ControlOracle {
    const oracle = this.#records[record];
    if (oracle === undefined) throw new Error(`no record ${record}`);
    return oracle;
  }

  get #opened(): EmbeddedPlane {
    if (this.#plane === undefined) throw new Error("the plane is not open");
    return this.#plane;
  }

  #draw(below: number): number {
    this.#random = (Math.imul(this.#random, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return below === 0 ? 0 : (this.#random >> 8) % below;
  }
}

function toCell(key: number, order: number, byte: number): CellWrite {
  return { space: key % 2 === 0 ? "slot" : "document", key: Buffer.from(`k${key}`), order, bytes: Uint8Array.of(byte) };
}

function nameOf({ key }: CellWrite): string {
  return Buffer.from(key).toString();
}

function recordName(record: number): string {
  return `r/${record}`;
}

function contents(store: MemoryStore | undefined): string {
  const cells: [string, string][] = [...(store?.cells ?? [])].map(([key, value]) => [key, value.toString("hex")]);
  return JSON.stringify(cells.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
