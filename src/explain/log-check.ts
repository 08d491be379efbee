import type { Copy } from "../core/partition/copy.ts";
import { recognise } from "../fleet/fold.ts";
import { type LogDoubt, logDoubtOf } from "../fleet/log-doubt.ts";
import type { SourceService } from "../fleet/source-service.ts";
import type { Surroundings } from "./surroundings.ts";

/** Asked for to find one record: the first batch comes whole. */
const RECORD_BYTES = 4_096;

/** Whether the log holds the last applied record where it was applied. `unknown`: that is compacted or deleted. */
type Recognition = "same" | "other" | "unknown";

const ANOTHER_LOG: LogDoubt = {
  by: "hold",
  code: "LOG_NOT_RECOGNISED",
  text: "the log is not the one that was applied",
};

/**
 * Whether what is stored of a partition says anything of the records that its log holds now. Looked at once for each
 * partition: one is made for each question.
 */
export class LogCheck {
  readonly #service: SourceService;
  readonly #recognised = new Map<number, Promise<Recognition>>();

  constructor(service: SourceService) {
    this.#service = service;
  }

  /**
   * Why not; undefined when it does. A log that is recognised is not in doubt, whatever it was stopped for, and one that is
   * another is, before anybody has noticed. @throws SourceFault
   */
  async doubtOf({ partition, present, copy }: Surroundings): Promise<LogDoubt | undefined> {
    const known = present ? logDoubtOf(this.#service, partition) : undefined;
    if (!present || copy === undefined) return known;
    const recognised = this.#recognised.get(partition) ?? this.#recognise(partition, copy);
    this.#recognised.set(partition, recognised);
    const doubts: Record<Recognition, LogDoubt | undefined> = {
      same: undefined,
      unknown: known,
      other: known ?? ANOTHER_LOG,
    };
    return doubts[await recognised];
  }

  /** The copy was read before the log is: what was applied cannot be missing at its end. */
  async #recognise(partition: number, { watermark, fingerprint }: Copy): Promise<Recognition> {
    const { source } = this.#service.parts;
    const bounds = (await source.bounds()).get(partition);
    if (bounds?.known !== true) return "unknown";
    if (bounds.end < watermark) return "other";
    if (fingerprint === undefined || fingerprint.offset < bounds.logStart) return "unknown";
    const read = await source.read(partition, fingerprint.offset, RECORD_BYTES);
    const found = read.read === "records" ? recognise(read.batch, fingerprint) : undefined;
    if (found === "different") return "other";
    return found === "equal" ? "same" : "unknown";
  }
}
