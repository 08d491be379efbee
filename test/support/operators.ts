import { AuditLog } from "../../src/audit/audit-log.ts";
import { GapLedger } from "../../src/gaps/gap-ledger.ts";
import { GapReader } from "../../src/gaps/gap-reader.ts";
import type { ResumeRequest } from "../../src/core/partition/resume.ts";
import { EpochService } from "../../src/operators/epoch-service.ts";
import { PauseService } from "../../src/operators/pause-service.ts";
import { ResumeService } from "../../src/operators/resume-service.ts";
import type { FleetWorld } from "./fleet-world.ts";

/** Who calls in tests, and why. */
export const ORDER = { actor: "chief", reason: "on call" } as const;

/** The services for operators over a {@link FleetWorld}, and short forms of what tests do with them. */
export class Operators {
  readonly #world: FleetWorld;
  readonly pauses: PauseService;
  readonly resumptions: ResumeService;
  readonly epochs: EpochService;
  readonly gaps: GapReader;
  readonly audit: AuditLog;

  constructor(world: FleetWorld) {
    this.#world = world;
    const { control } = world.plane;
    this.audit = new AuditLog(control, world.clock, world.logger);
    const parts = { fleet: { service: () => world.service }, control, audit: this.audit, clock: world.clock };
    this.pauses = new PauseService(parts);
    this.resumptions = new ResumeService(parts);
    this.epochs = new EpochService(parts);
    this.gaps = new GapReader(new GapLedger(control));
  }

  /** Reads the ETag and resumes under it, then lets the world run a while. */
  async resume(request: ResumeRequest, partition = 0) {
    const target = { source: "articles", partition };
    const etag = await this.resumptions.etag(target);
    const view = await this.resumptions.resume(target, ORDER, request, etag);
    await this.#world.clock.advance(3_000);
    return view;
  }

  /** What a call ends with while the clock turns. */
  async turning<T>(call: Promise<T>): Promise<T> {
    const settled = call.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    await this.#world.clock.advance(5_000);
    const result = await settled;
    if ("error" in result) throw result.error;
    return result.value;
  }

  async gapRanges(partition = 0) {
    const { gaps } = await this.gaps.list({ source: "articles" });
    return gaps
      .filter((gap) => gap.partition === partition)
      .map(({ from, to, cause, records }) => ({ from, to, cause, ...(records === undefined ? {} : { records }) }));
  }
}
