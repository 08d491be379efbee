import type { AuditCall, AuditLog } from "../audit/audit-log.ts";
import { StreamsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { RepairOrder } from "../ports/control-plane.ts";
import { KvFault, type KvPlane } from "../ports/kv-plane.ts";
import type { Logger } from "../ports/logger.ts";

/** How often an entry that could not be made is tried again. */
const RETRY_MS = 5_000;

/** Entries that wait for the plane; a script that repairs in a loop must not fill the memory. */
const WAITING_MAX = 100;

/** What repairs of owners are made of. */
export interface RepairParts {
  readonly plane: Pick<KvPlane, "repair">;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Late {
  readonly call: AuditCall;
  readonly at: number;
  readonly refusal: string | undefined;
}

/**
 * Repairs of owners, each in the log and in the audit log. With two owners lost nothing can be written before one is repaired,
 * so such a repair is entered once the plane has a quorum again, as far as this process lives that long.
 */
export class RepairService {
  readonly #parts: RepairParts;
  readonly #late: Late[] = [];
  #entering = false;

  constructor(parts: RepairParts) {
    this.#parts = parts;
  }

  /** See the port. @throws StreamsError KV_OWNER_UNKNOWN, KV_REPAIR_REFUSED */
  async repair(owner: string, { actor, reason, acceptLoss }: RepairOrder): Promise<void> {
    const { plane, audit, clock, logger } = this.#parts;
    logger.warn({ owner, actor, reason, acceptLoss }, "repair of a KV owner was ordered");
    const at = clock.now();
    const detail = acceptLoss ? `owner ${owner}, loss accepted` : `owner ${owner}`;
    const call: AuditCall = { actor, reason, action: "repair-owner", source: "", partition: null, detail };
    const id = await this.#begin(call);
    if (id === undefined) return this.#unentered(call, at, () => plane.repair(owner, acceptLoss));
    await audit.within(id, () => plane.repair(owner, acceptLoss));
    // Not waited for: the owners change just now, and the repair has begun.
    void audit.finish(id, []).catch((error: unknown) => logger.error({ error }, "the audit log cannot be written"));
  }

  async #begin(call: AuditCall): Promise<string | undefined> {
    try {
      return await this.#parts.audit.begin(call);
    } catch (error) {
      if (!(error instanceof KvFault)) throw error;
      return undefined;
    }
  }

  async #unentered(call: AuditCall, at: number, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.#enterLater({ call, at, refusal: undefined });
    } catch (error) {
      if (error instanceof StreamsError) this.#enterLater({ call, at, refusal: error.code });
      throw error;
    }
  }

  #enterLater(late: Late): void {
    if (this.#late.length === WAITING_MAX) {
      this.#parts.logger.warn(
        { ...late.call },
        "too many repairs wait for their entry in the audit log: this one gets none",
      );
      return;
    }
    this.#late.push(late);
    if (this.#entering) return;
    this.#entering = true;
    this.#wait();
  }

  #wait(): void {
    const { clock, logger } = this.#parts;
    clock.after(RETRY_MS, () => {
      this.#enterLate().catch((error: unknown) => {
        this.#entering = false;
        logger.error({ error }, "repairs could not be entered in the audit log");
      });
    });
  }

  async #enterLate(): Promise<void> {
    for (let next = this.#late[0]; next !== undefined; next = this.#late[0]) {
      try {
        await this.#parts.audit.enterLate(next.call, next.at, next.refusal);
      } catch (error) {
        if (!(error instanceof KvFault)) throw error;
        return this.#wait();
      }
      this.#late.shift();
    }
    this.#entering = false;
  }
}
