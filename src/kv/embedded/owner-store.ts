import { type PackedAnswers, requireAnswers } from "./answers.ts";
import { type Answer, OwnerDown } from "./pending.ts";
import type { CellRange, KeyRange, Span, SpanAnswer, ToOwner } from "./protocol.ts";
import type { RangeAnswer } from "./ranges.ts";
import { type Packed, type StoreAddress, eachEntry, packAddresses } from "./wire.ts";

/** Addresses of one read message. */
const READ_KEYS = 4_096;

/** Packs what the first message of a read names, or the one that goes on at `from`. */
export function packFirst(addresses: readonly StoreAddress[], from = 0): Packed {
  return packAddresses(addresses, from, Math.min(addresses.length, from + READ_KEYS));
}

type Ask = (message: (id: number) => ToOwner, body?: readonly Packed[]) => Promise<Answer>;

/** What an owner holds, as its process answers. */
export class OwnerStore {
  readonly #ask: Ask;

  /** `ask` sends a request and resolves with the answer, or rejects with OwnerDown. */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Merges packed cells of other owners; flushed when it resolves. @throws OwnerDown */
  async absorb(packed: Buffer): Promise<void> {
    const part = { buffer: packed.buffer, offset: packed.byteOffset, length: packed.length };
    await this.#ask((id) => ({ kind: "absorb", id }), [part]);
  }

  /** Packed cells of a span. @throws OwnerDown */
  async scan(span: Span): Promise<SpanAnswer & { readonly packed: Buffer }> {
    const { message, body } = await this.#ask((id) => ({ kind: "scan", id, span }));
    if (message.kind !== "scanned") throw new OwnerDown("an answer of another kind");
    return { ...message, packed: body };
  }

  /** What a span's cells hash to. @throws OwnerDown */
  async digest(span: Span): Promise<SpanAnswer & { readonly hash: string }> {
    const { message } = await this.#ask((id) => ({ kind: "digest", id, span }));
    if (message.kind !== "digested") throw new OwnerDown("an answer of another kind");
    return message;
  }

  /** What it holds of `addresses`, in order. `packed` are the first of them, where they are packed already. @throws OwnerDown; InvariantViolation for an answer that makes no sense */
  async read(addresses: readonly StoreAddress[], packed = packFirst(addresses)): Promise<readonly PackedAnswers[]> {
    const answers: PackedAnswers[] = [];
    let next = packed;
    for (let read = 0; read < addresses.length;) {
      const { message, body } = await this.#ask((id) => ({ kind: "read", id }), [next]);
      if (message.kind !== "answers") throw new OwnerDown("an answer of another kind");
      const answer = { count: message.count, packed: body };
      requireAnswers(answer);
      answers.push(answer);
      read += message.count;
      if (read < addresses.length) next = packFirst(addresses, read);
    }
    return answers;
  }

  /** Store keys of a range, in byte order. @throws OwnerDown */
  async list(range: KeyRange): Promise<{ readonly keys: readonly Uint8Array[]; readonly complete: boolean }> {
    const { message, body } = await this.#ask((id) => ({ kind: "list", id, range }));
    const keys: Uint8Array[] = [];
    eachEntry(body, (key) => keys.push(key));
    return { keys, complete: message.kind !== "listed" || message.complete };
  }

  /** Packed cells of a range. @throws OwnerDown */
  async range(range: CellRange): Promise<RangeAnswer> {
    const { message, body } = await this.#ask((id) => ({ kind: "range", id, range }));
    if (message.kind !== "ranged") throw new OwnerDown("an answer of another kind");
    return { packed: body, complete: message.complete };
  }

  /** Resolves when its process answers and its store is where it was opened. @throws OwnerDown */
  async check(): Promise<void> {
    await this.#ask((id) => ({ kind: "check", id }));
  }
}
