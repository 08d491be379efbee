import { type Offset, formatOffset } from "../core/offset.ts";
import type { ResumeDecision, ResumeRequest } from "../core/partition/resume.ts";
import { pageOf, type StopCode } from "../core/partition/stop.ts";
import { unreachable } from "../core/invariant.ts";
import { StreamsError } from "../errors.ts";

/** Why a resumption is refused, with the range or the bounds as they are now. */
export function refusalOf(
  decision: Exclude<ResumeDecision, { decision: "resume" }>,
  bounds: { readonly logStart: Offset; readonly end: Offset },
  code: StopCode,
): StreamsError {
  const page = pageOf(code);
  const now = { logStart: formatOffset(bounds.logStart), end: formatOffset(bounds.end) };
  switch (decision.decision) {
    case "loss": {
      const lost = { from: formatOffset(decision.lost.from), to: formatOffset(decision.lost.to) };
      const text = `offsets ${lost.from} up to, not including, ${lost.to} would be passed over`;
      return new StreamsError("LOSS_NOT_ACCEPTED", text, { lost, bounds: now, page });
    }
    case "outside": {
      const text = `${decision.what} ${decision.wanted} is outside the log, which holds ${now.logStart} to ${now.end}`;
      return new StreamsError("RESUME_OUT_OF_RANGE", text, { bounds: now, page });
    }
    case "no-such-point":
      return new StreamsError("RESUME_POINT_UNKNOWN", `the partition has no ${pointText(decision.point)}`, {
        bounds: now,
        page,
      });
    case "needs-epoch":
      return new StreamsError("EPOCH_REQUIRED", decision.text, { bounds: now, page });
    default:
      return unreachable(decision);
  }
}

function pointText(point: "copy" | "committed"): string {
  return point === "copy" ? "copy in the KV plane" : "committed offset in its group";
}

/** A request as the audit log tells it. */
export function describeRequest({ from, acceptLoss, allowPoison }: ResumeRequest): string {
  const parts = [`from ${from}`];
  if (acceptLoss !== undefined) parts.push(`loss accepted from ${acceptLoss.from} to at most ${acceptLoss.toMax}`);
  if (allowPoison !== undefined) parts.push(`poison allowed below ${allowPoison.to}`);
  return parts.join(", ");
}
