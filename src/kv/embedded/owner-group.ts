import type { OrderedBytes } from "../../core/cell.ts";
import { type Steps, inTurns } from "../../core/steps.ts";
import { type Acks, KvFault, type OwnerStatus } from "../../ports/kv-plane.ts";
import {
  type Tally,
  type Verdict,
  mergeAnswers,
  onAnswer,
  onLoss,
  readAnswersNeeded,
  readVerdict,
  startTally,
  writeVerdict,
} from "../quorum.ts";
import { type PackedAnswers, sameAnswers, storedValues } from "./answers.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import type { OwnerLink } from "./owner-link.ts";
import { packFirst } from "./owner-store.ts";
import { OwnerDown } from "./pending.ts";
import { measure, packBatch } from "./packing.ts";
import { nextTurn } from "./turns.ts";
import { type Packed, type StoreAddress, type StoreWrite, compareStored, decodeStored } from "./wire.ts";

/** What R owners answered for one key, merged. */
export interface MergedAnswer {
  /** Undefined is absent. */
  readonly winner: OrderedBytes | undefined;
  /** How many owners answered exactly this. */
  readonly alike: number;
}

export interface OwnerGroupOptions {
  readonly writeAcks: number;
  /** Largest body of a cell, in bytes. */
  readonly bodyBytesMax: number;
  readonly pool: ChunkPool;
}

/** A request to several owners that is not settled. */
interface UnderWay {
  tally: Tally;
  readonly judge: (tally: Tally) => Verdict;
  readonly reached: (owners: readonly string[]) => void;
  readonly impossible: () => void;
}

/** The owners together: writes that count at W, reads that ask R. */
export class OwnerGroup {
  readonly links: readonly OwnerLink[];
  readonly writeAcks: number;
  readonly #options: OwnerGroupOptions;
  readonly #underWay = new Set<UnderWay>();
  #closed = false;

  constructor(links: readonly OwnerLink[], options: OwnerGroupOptions) {
    this.links = links;
    this.writeAcks = options.writeAcks;
    this.#options = options;
  }

  /** How many owners a read asks at least. */
  get readAnswers(): number {
    return readAnswersNeeded(this.links.length, this.writeAcks);
  }

  up(): readonly OwnerLink[] {
    return this.links.filter((link) => link.up);
  }

  /** Owners that are sent every write: those that are up, and those that merge to become so. */
  receiving(): readonly OwnerLink[] {
    return this.links.filter((link) => link.receives);
  }

  /** Bytes that wait at the slowest owner that is sent writes. */
  backlog(): number {
    return this.receiving().reduce((most, link) => Math.max(most, link.pendingBytes), 0);
  }

  /** Owners with more than `limit` bytes waiting that a quorum could do without: it has no more than that. */
  behind(limit: number): readonly OwnerLink[] {
    const prompt = this.up().filter((link) => link.pendingBytes <= limit);
    if (prompt.length < this.writeAcks) return [];
    return this.receiving().filter((link) => link.pendingBytes > limit);
  }

  status(): readonly OwnerStatus[] {
    return this.links.map((link) => link.status());
  }

  /** From now on every request is refused; those under way go on. */
  close(): void {
    this.#closed = true;
  }

  /** To be called when an owner went down: what it acknowledged of unsettled requests counts no more. */
  ownerLost(owner: string): void {
    for (const request of this.#underWay) this.#step(request, onLoss(request.tally, owner));
  }

  /** @throws KvFault when closed or fewer than `needed` owners are up */
  require(what: string, needed: number): void {
    if (this.#closed) throw new KvFault("KV_CLOSED", "the KV plane is closed");
    if (this.up().length < needed) throw this.noQuorum(what, needed);
  }

  /** The fault of too few owners; it names those that are not up, and why. */
  noQuorum(what: string, needed: number): KvFault {
    const missing = this.links.flatMap(({ owner, reason }) =>
      reason === undefined ? [] : [`${owner} ${reason.code}`],
    );
    const whose = missing.length > 0 ? `not up: ${missing.join(", ")}` : "an owner went down meanwhile";
    return new KvFault("KV_NO_QUORUM", `${what} needs ${needed} of ${this.links.length} owners; ${whose}`);
  }

  /** Bytes of a batch when packed; other work of the thread runs in between. @throws InvariantViolation for a key, value or order beyond the limits */
  measure(batch: readonly StoreWrite[]): Promise<number> {
    return inTurns(measure(batch, this.#options.bodyBytesMax), nextTurn);
  }

  /**
   * Sends a measured batch of `bytes` to every owner that is sent writes, and resolves at W acks of those that are up; the
   * others go on. `handed` is called once the batch is on its way, or failed before.
   * @throws KvFault when fewer than W owners can take it
   */
  async write(batch: readonly StoreWrite[], bytes: number, handed?: () => void): Promise<Acks> {
    try {
      this.require("a write", this.writeAcks);
      const parts = await packBatch(batch, bytes, this.#options.pool);
      this.require("a write", this.writeAcks);
      const judge = (tally: Tally): Verdict => writeVerdict(tally, this.writeAcks);
      return await this.#track("a write", this.writeAcks, this.up(), judge, (request) => {
        this.#sendAll(parts, bytes, request);
        handed?.();
        handed = undefined;
      });
    } finally {
      handed?.();
    }
  }

  /**
   * Reads and merges, by index of `addresses`: at least R answers, and `wanted` of them while that many owners are up.
   * @throws KvFault when fewer than R owners can answer
   */
  async read(addresses: readonly StoreAddress[], wanted: number): Promise<readonly MergedAnswer[]> {
    const packed = packFirst(addresses);
    const answers = await this.ask("a read", wanted, (link) => link.store.read(addresses, packed));
    return await inTurns(mergeRead(addresses.length, answers), nextTurn);
  }

  /**
   * Asks every owner that is up and resolves with what they answered, once R of them have, and `wanted` while that many
   * are up. An owner that goes down before that takes its answer along.
   * @throws KvFault when fewer than R owners can answer
   */
  async ask<Answer>(
    what: string,
    wanted: number,
    question: (link: OwnerLink) => Promise<Answer>,
  ): Promise<readonly Answer[]> {
    const { readAnswers } = this;
    this.require(what, readAnswers);
    const answers = new Map<string, Answer>();
    const up = this.up();
    const judge = (tally: Tally): Verdict => readVerdict(tally, readAnswers, wanted);
    const { owners } = await this.#track(what, readAnswers, up, judge, (request) => {
      for (const link of up) {
        question(link).then(
          (answer) => {
            answers.set(link.owner, answer);
            this.#step(request, onAnswer(request.tally, link.owner));
          },
          (error: unknown) => {
            // An answer that cannot be understood is as bad as none.
            if (!(error instanceof OwnerDown)) link.takeDown({ code: "OWNER_FAILED", text: String(error) });
            this.#step(request, onLoss(request.tally, link.owner));
          },
        );
      }
    });
    return [...answers].filter(([owner]) => owners.includes(owner)).map(([, answer]) => answer);
  }

  /** All in one turn, so that every owner is sent the same writes in the same order. */
  #sendAll(parts: readonly Packed[], bytes: number, request: UnderWay): void {
    const receiving = this.receiving();
    let unsent = receiving.length;
    const sent = (): void => {
      unsent -= 1;
      if (unsent === 0) this.#options.pool.give(parts.map((part) => part.buffer));
    };
    for (const link of receiving) {
      link.write(parts, bytes, () => this.#step(request, onAnswer(request.tally, link.owner)), sent);
    }
  }

  #track(
    what: string,
    needed: number,
    asked: readonly OwnerLink[],
    judge: (tally: Tally) => Verdict,
    send: (request: UnderWay) => void,
  ): Promise<Acks> {
    return new Promise((resolve, reject) => {
      const request: UnderWay = {
        tally: startTally(asked.map((link) => link.owner)),
        judge,
        reached: (owners) => resolve({ count: owners.length, owners }),
        impossible: () => reject(this.noQuorum(what, needed)),
      };
      this.#underWay.add(request);
      send(request);
    });
  }

  #step(request: UnderWay, tally: Tally): void {
    if (!this.#underWay.has(request)) return;
    request.tally = tally;
    const verdict = request.judge(tally);
    if (verdict === "pending") return;
    this.#underWay.delete(request);
    if (verdict === "reached") request.reached(tally.answered);
    else request.impossible();
  }
}

/** Bytes decoded, and cells merged, before other work of the thread runs. */
const DECODED_PER_TURN = 4 * 1024 * 1024;
const MERGED_PER_TURN = 1_024;

/** Merges what owners answered to one read of `count` keys. */
function* mergeRead(count: number, answers: readonly (readonly PackedAnswers[])[]): Steps<readonly MergedAnswer[]> {
  const [first = []] = answers;
  // The rule, where nothing is under way and nothing was missed.
  const same = answers.every((other) => other === first || sameAnswers(first, other));
  const byOwner = (same ? [first] : answers).map((parts) => storedValues(parts));
  const merged: MergedAnswer[] = [];
  let decoded = 0;
  for (let index = 0; index < count; index += 1) {
    const values = byOwner.map((stored) => stored[index]);
    const { winner, alike } = mergeAnswers(values, compareStored);
    merged.push({ winner: winner && decodeStored(winner), alike: same ? answers.length : alike });
    decoded += winner?.length ?? 0;
    if (decoded < DECODED_PER_TURN && (index + 1) % MERGED_PER_TURN !== 0) continue;
    decoded = 0;
    yield undefined;
  }
  return merged;
}
