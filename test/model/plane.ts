import { compareOrdered, type OrderedBytes } from "../../src/core/cell.ts";

/** Three owners in memory, W = R = 2. Every message between a writer and an owner is delivered, late or lost on its own. */

const W = 2;

export interface ModelCell extends OrderedBytes {
  readonly key: string;
}

/** Cells on their way to the owners. */
export interface ModelWrite {
  readonly cells: readonly ModelCell[];
  /** By cell: life of the owner that holds it durably, by owner. Acks die with that life. */
  readonly acks: readonly Map<number, number>[];
  settled: boolean;
}

interface Owner {
  state: "up" | "down" | "lost";
  life: number;
  readonly cells: Map<string, ModelCell>;
}

interface Message {
  readonly owner: number;
  readonly index: number;
  readonly write: ModelWrite;
}

export class ModelPlane {
  readonly owners: readonly Owner[] = [0, 1, 2].map(() => ({ state: "up", life: 1, cells: new Map() }));
  readonly messages: Message[] = [];

  /** Sends every cell to every owner. */
  send(cells: readonly ModelCell[]): ModelWrite {
    const write = { cells, acks: cells.map(() => new Map<number, number>()), settled: false };
    this.resend(write);
    return write;
  }

  /** Sends again what an owner has not acknowledged in its present life. */
  resend(write: ModelWrite): void {
    for (const [owner, { life }] of this.owners.entries()) {
      for (const [index, acks] of write.acks.entries()) {
        if (acks.get(owner) !== life) this.messages.push({ owner, index, write });
      }
    }
  }

  /** Delivers one message; an owner that is not up loses it. */
  deliver(at: number): void {
    const [message] = this.messages.splice(at, 1);
    if (message === undefined) return;
    const { owner: number, index, write } = message;
    const owner = this.owners[number];
    const cell = write.cells[index];
    if (owner === undefined || cell === undefined || owner.state !== "up") return;
    merge(owner, cell);
    write.acks[index]?.set(number, owner.life);
  }

  /** Whether W owners hold every cell, in lives that are not over; once true it stays so. */
  isAtW(write: ModelWrite): boolean {
    write.settled ||= write.acks.every((acks) => {
      let count = 0;
      for (const [owner, life] of acks) if (this.owners[owner]?.life === life) count += 1;
      return count >= W;
    });
    return write.settled;
  }

  get up(): readonly number[] {
    return [0, 1, 2].filter((owner) => this.owners[owner]?.state === "up");
  }

  /** What two owners hold of a key: the winner, and whether they differ. */
  read(pair: readonly number[], key: string): { readonly cell: ModelCell | undefined; readonly differ: boolean } {
    const [a, b] = pair.map((owner) => this.owners[owner]?.cells.get(key));
    if (a === undefined || b === undefined) return { cell: a ?? b, differ: a !== b };
    const order = compareOrdered(a, b);
    return { cell: order < 0 ? b : a, differ: order !== 0 };
  }

  /** An owner loses all it holds: a new, empty life, which counts for nothing until it is repaired. Only when all are up. */
  lose(number: number): void {
    const owner = this.owners[number];
    if (owner === undefined || this.up.length < 3) return;
    owner.state = "lost";
    owner.life += 1;
    owner.cells.clear();
  }

  /** An owner is away with its data, or comes back with it. */
  toggle(number: number): void {
    const owner = this.owners[number];
    if (owner === undefined || owner.state === "lost") return;
    owner.state = owner.state === "up" ? "down" : "up";
  }

  /** A lost owner merges what `peers` hold, all of them up, and counts again. */
  repair(number: number, peers: readonly number[]): void {
    const owner = this.owners[number];
    if (owner?.state !== "lost" || peers.some((peer) => this.owners[peer]?.state !== "up")) return;
    for (const peer of peers) for (const cell of this.owners[peer]?.cells.values() ?? []) merge(owner, cell);
    owner.state = "up";
  }
}

function merge(owner: Owner, cell: ModelCell): void {
  const present = owner.cells.get(cell.key);
  if (present === undefined || compareOrdered(cell, present) > 0) owner.cells.set(cell.key, cell);
}
