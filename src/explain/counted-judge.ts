import { countRecords, type CountedRecords } from "../core/counting/count-records.ts";
import type { InputView } from "../core/counting/inputs.ts";
import { slotKey, slotSuffix, type SlotOwner } from "../core/counting/keys.ts";
import { Tally } from "../core/counting/tally.ts";
import type { RecordFault } from "../core/fault.ts";
import type { CountingVerdict } from "../fleet/verdicts.ts";
import type { InputType, InputValue } from "../ports/decoder.ts";
import type { DecodedInput } from "../ports/explain.ts";
import type { CellAddress } from "../ports/kv-plane.ts";

/** A record as a counting kind judges it. */
export interface CountedJudgement {
  readonly fault: RecordFault | undefined;
  readonly inputs: readonly DecodedInput[];
  /** The slots that it is counted into; none for a fault, and for a record that stands for no event. */
  readonly slots: readonly CellAddress[];
}

/** Counts one record by the code that its runner runs, into slots of its own. Pure. */
export function judgeCounted(
  records: CountedRecords,
  index: number,
  { kind, counter }: CountingVerdict,
  owner: SlotOwner,
): CountedJudgement {
  const tally = new Tally(counter.families);
  let fault: RecordFault | undefined;
  countRecords(records, index, index + 1, counter, tally, (_index, found) => {
    fault = found;
    return "pass";
  });
  const { view } = counter.reader;
  const undecoded = fault?.code.startsWith("DECODE_") === true || records.valueAt(index) === null;
  const suffix = slotSuffix(owner);
  return {
    fault,
    inputs: undecoded
      ? []
      : kind.inputs.map(({ name, type }, input) => ({ name, type, value: valueOf(view, input, type) })),
    slots: Array.from({ length: tally.size }, (_unused, entry) => ({
      space: "slot",
      key: slotKey(tally.key(entry), suffix),
    })),
  };
}

function valueOf(view: InputView, input: number, type: InputType): InputValue {
  if (!view.has(input)) return undefined;
  const bytes = () => view.bytes.slice(view.start(input), view.end(input));
  switch (type) {
    case "text":
      return Buffer.from(bytes()).toString("utf8");
    case "bytes":
      return bytes();
    case "integer": {
      const value = (BigInt(view.high(input)) << 32n) | BigInt(view.low(input));
      return view.negative(input) ? BigInt.asIntN(64, value) : value;
    }
    case "flag":
      return view.number(input) !== 0;
    default:
      return view.number(input);
  }
}
