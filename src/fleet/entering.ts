import type { AuditLog } from "../audit/audit-log.ts";
import { bindingRecord } from "../control/binding-record.ts";
import { BindingRecord, type Resumption, StopRecord, recordNames } from "../control/records.ts";
import { updateRecord } from "../control/json-record.ts";
import type { Gap } from "../core/gaps/gap.ts";
import { type Binding, type LogOpening, logOf } from "../core/topic/binding.ts";
import type { GapLedger, GapOwner } from "../gaps/gap-ledger.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/**
 * What an operator decided is one record, written by one compare-and-set. The gap ledger and the audit log are others: what
 * belongs there is kept with the decision until it is entered, and nothing is read under the decision before (I12). So:
 *
 * 1. the decision is written. A crash here: whoever owns the partition next finds it with `entered: false`;
 * 2. the gaps are entered, the audit entry gets its end. Both may be repeated: they know the audit entry's id;
 * 3. `entered` is set, if the record still holds the same decision. A crash before: 2 is repeated and changes nothing;
 * 4. the partition begins.
 *
 * The instance that took the call does 2 and 3 at once, so that its answer can name the gaps; the owner does what is left.
 */
export interface Entering {
  readonly plane: KvPlane;
  readonly gaps: GapLedger;
  readonly audit: AuditLog;
}

/** Enters a resumption. Returns the ids of its gaps. @throws KvFault: nothing is lost by trying again */
export async function enterResumption(
  { plane, gaps, audit }: Entering,
  owner: GapOwner,
  log: number,
  resumed: Resumption,
): Promise<readonly string[]> {
  const entered = await gaps.enterRanges(owner, rangesOf(resumed));
  await audit.applied(resumed.audit, entered);
  await updateRecord(plane.control, recordNames.stop(owner.source, owner.partition, log), StopRecord, (present) => {
    if (present === undefined) return { stop: null, since: 0, reach: 0, resumed };
    if (present.resumed?.audit !== resumed.audit || present.resumed.entered) return present;
    return { ...present, resumed: { ...present.resumed, entered: true } };
  });
  return entered;
}

function rangesOf({ passedOver, topicEpoch, actor, reason, at, audit }: Resumption): readonly Gap[] {
  const common = { topicEpoch, actor, reason, at, lastAt: at, records: null, codes: [], audit };
  return passedOver.map(({ from, to, cause }) => ({ ...common, from, to, cause }));
}

/** Enters the opening of a log, unless that was done. Returns the binding as it stands then. @throws KvFault */
export async function enterOpening(entering: Entering, source: string, binding: Binding): Promise<Binding> {
  const { opened } = binding;
  if (opened === undefined || opened.entered) return binding;
  const { plane, gaps, audit } = entering;
  const entered = await Promise.all(
    opened.givenUp.map(({ partition, ...range }) => gaps.enterRanges({ source, partition }, [givenUp(opened, range)])),
  );
  await audit.applied(opened.audit, entered.flat());
  const stored = await updateRecord(plane.control, recordNames.binding(source), BindingRecord, (present) => {
    if (present?.opened === undefined) return bindingRecord(binding);
    if (logOf(present) !== logOf(binding) || present.opened.entered) return present;
    return { ...present, opened: { ...present.opened, entered: true } };
  });
  return stored.value;
}

function givenUp({ actor, reason, at, audit }: LogOpening, range: Pick<Gap, "topicEpoch" | "from">): Gap {
  return { ...range, to: null, cause: "epoch", actor, reason, at, lastAt: at, records: null, codes: [], audit };
}
