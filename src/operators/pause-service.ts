import type { AuditLog } from "../audit/audit-log.ts";
import { PausesRecord } from "../control/log-records.ts";
import { updateRecord } from "../control/json-record.ts";
import { recordNames } from "../control/records.ts";
import { NO_PAUSES, type Pause, pauseOf, type Pauses, sourcePauseOf, withPause } from "../core/pause/pause.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Clock } from "../ports/clock.ts";
import type { ControlStore } from "../ports/kv-plane.ts";
import type { Order, PauseCommands, PauseView, Target } from "../ports/operators.ts";
import { serviceOf } from "./operator-state.ts";

/** What the services for operators are made of. */
export interface OperatorParts {
  readonly fleet: Pick<Fleet, "service">;
  readonly control: ControlStore;
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/** Sets and ends pauses: one control record per source, obeyed by whoever owns its partitions. */
export class PauseService implements PauseCommands {
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  async pause(target: Target, order: Order, untilMs: number | undefined): Promise<PauseView> {
    const until = untilMs === undefined ? "" : `until ${new Date(untilMs).toISOString()}`;
    return this.#change(target, order, "pause", until, (audit, since) => {
      if (untilMs !== undefined && untilMs <= since) {
        throw new StreamsError("PAUSE_UNTIL_PAST", `${new Date(untilMs).toISOString()} is over`);
      }
      return { ...order, since, until: untilMs ?? null, audit };
    });
  }

  async unpause(target: Target, order: Order): Promise<PauseView> {
    return this.#change(target, order, "unpause", "", () => null);
  }

  async #change(
    target: Target,
    order: Order,
    action: "pause" | "unpause",
    detail: string,
    make: (audit: string, nowMs: number) => Pause | null,
  ): Promise<PauseView> {
    const { fleet, audit, clock } = this.#parts;
    const service = await serviceOf(fleet, target);
    const { source, partition } = target;
    const whole = partition === undefined;
    const call = { ...order, action: `${action}-${whole ? "source" : "partition"}`, source, detail } as const;
    return audit.around({ ...call, partition: partition ?? null }, async (id) => {
      const now = clock.now();
      const pause = make(id, now);
      const pauses = await this.#write(source, (present) => withPause(present, partition ?? "source", pause, now));
      await audit.finish(id, []);
      await service.obey();
      const held = whole ? sourcePauseOf(pauses, now) : pauseOf(pauses, partition, now);
      return { pause: held, audit: id };
    });
  }

  async #write(source: string, change: (present: Pauses) => Pauses): Promise<Pauses> {
    const { control } = this.#parts;
    const stored = await updateRecord(control, recordNames.pauses(source), PausesRecord, (present) => {
      const { source: whole, partitions } = change(present ?? NO_PAUSES);
      return { source: whole, partitions: partitions.map((entry) => ({ ...entry })) };
    });
    return stored.value;
  }
}
