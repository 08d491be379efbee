import type { ErrorCode } from "../../../src/errors.ts";
import { StreamsError } from "../../../src/errors.ts";
import type { ResumeRequest } from "../../../src/core/partition/resume.ts";
import type {
  AuditPage,
  AuditQuery,
  EpochView,
  GapPage,
  GapQuery,
  Order,
  PauseView,
  ResumedView,
  ResumptionItem,
  Target,
} from "../../../src/ports/operators.ts";

/** What was asked of the services for operators, and what they answer; a code makes the next call fail. */
export class FakeOperators {
  readonly calls: { readonly call: string; readonly args: readonly unknown[] }[] = [];
  refusal: { readonly code: ErrorCode; readonly extra: Readonly<Record<string, unknown>> } | undefined;
  tag = "state-1";
  paused: PauseView["pause"];
  items: readonly ResumptionItem[] = [];
  auditPage: AuditPage = { entries: [] };
  gapPage: GapPage = { gaps: [] };

  readonly pauses = {
    pause: (target: Target, order: Order, untilMs: number | undefined): Promise<PauseView> =>
      this.#answer("pause", [target, order, untilMs], () => ({ pause: this.paused, audit: "0-1" })),
    unpause: (target: Target, order: Order): Promise<PauseView> =>
      this.#answer("unpause", [target, order], () => ({ pause: this.paused, audit: "0-2" })),
  };

  readonly resumptions = {
    etag: (target: Target): Promise<string> => this.#known(target, () => this.tag),
    resume: (target: Required<Target>, order: Order, request: ResumeRequest, ifMatch: string): Promise<ResumedView> =>
      this.#answer("resume", [target, order, request, ifMatch], () => ({
        partition: target.partition,
        from: 500,
        gaps: [`${target.source}/${target.partition}/0-0`],
        audit: "0-3",
      })),
    resumeAll: (source: string, order: Order, request: ResumeRequest, ifMatch: string) =>
      this.#answer("resumeAll", [{ source }, order, request, ifMatch], () => this.items),
  };

  readonly epochs = {
    open: (source: string, order: Order, counting: "continues" | "replaces" | undefined): Promise<EpochView> =>
      this.#answer("open", [{ source }, order, counting], () => ({
        source,
        topicEpoch: 1,
        partitions: 4,
        audit: "0-4",
      })),
  };

  readonly gaps = {
    list: (query: GapQuery): Promise<GapPage> => this.#answer("gaps", [query], () => this.gapPage),
  };

  readonly audit = {
    list: (query: AuditQuery): Promise<AuditPage> => this.#answer("audit", [query], () => this.auditPage),
  };

  reset(): void {
    this.calls.length = 0;
    this.refusal = undefined;
    this.tag = "state-1";
    this.paused = undefined;
    this.items = [];
    this.auditPage = { entries: [] };
    this.gapPage = { gaps: [] };
  }

  async #answer<T>(call: string, args: readonly unknown[], answer: () => T): Promise<T> {
    this.calls.push({ call, args });
    const { refusal } = this;
    if (refusal !== undefined) throw new StreamsError(refusal.code, `made to fail with ${refusal.code}`, refusal.extra);
    return answer();
  }

  async #known<T>({ source }: Target, answer: () => T): Promise<T> {
    if (source !== "articles") throw new StreamsError("SOURCE_UNKNOWN", `there is no source ${source}`);
    return answer();
  }
}
