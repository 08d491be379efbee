import type { Increments, InputView, KeyPrefix } from "../src/core/counting/inputs.ts";
import { TRAFFIC_KEYS, keyPrefix } from "../src/core/counting/keys.ts";
import { trafficFamilies } from "../src/core/counting/shapes.ts";
import type { CountingSettings } from "../src/core/counting/settings.ts";
import type { RecordFault } from "../src/core/fault.ts";
import type { KindInput } from "../src/ports/decoder.ts";
import type { CountingKind, CountingRules } from "../src/ports/kind.ts";
import { contractFault, entityFault, timeFault } from "./contract.ts";

const INPUTS = [
  { name: "article", type: "text", required: true },
  { name: "metric", type: "text", required: true },
  { name: "occurred_at", type: "time", required: true },
  { name: "visitor", type: "integer", required: false },
  { name: "count", type: "integer", required: false },
] as const satisfies readonly KindInput[];

const ARTICLE = 0;
const METRIC = 1;
const OCCURRED_AT = 2;
const VISITOR = 3;
const COUNT = 4;

/** Longest metric, in bytes. */
const METRIC_BYTES_MAX = 64;

/**
 * `traffic`: beacon events of articles. A counter is an article's metric in one slot of time: how many events, and how many
 * distinct visitors. The record key is the article's id.
 */
export const traffic: CountingKind = {
  name: "traffic",
  counting: true,
  space: "slot",
  inputs: INPUTS,
  keepsBody: false,
  defaultMapping: { article: [1], metric: [2], occurred_at: [3], visitor: [4], count: [5] },
  compile(namespace: string, settings: CountingSettings): CountingRules {
    const prefix = keyPrefix(namespace, TRAFFIC_KEYS);
    const { slotWidthMs, visitors } = settings;
    return {
      families: trafficFamilies(settings),
      count: (key, timestampMs, inputs, increments) =>
        judge(key, timestampMs, inputs) ?? add(inputs, increments, prefix, slotWidthMs, visitors),
    };
  },
};

function judge(key: Uint8Array | null, timestampMs: number, inputs: InputView): RecordFault | undefined {
  return (
    entityFault(key, inputs, ARTICLE) ??
    metricFault(inputs) ??
    timeFault(timestampMs, inputs, OCCURRED_AT) ??
    countFault(inputs)
  );
}

function metricFault(inputs: InputView): RecordFault | undefined {
  const { bytes } = inputs;
  const start = inputs.start(METRIC);
  const end = inputs.end(METRIC);
  let fits = end > start && end - start <= METRIC_BYTES_MAX;
  for (let index = start; index < end && fits; index += 1) fits = isMetricByte(bytes[index] ?? 0);
  if (fits) return undefined;
  const text = `a metric is 1 to ${METRIC_BYTES_MAX} lower case letters, digits and underscores`;
  return contractFault("CONTRACT_METRIC", text);
}

function isMetricByte(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f;
}

function countFault(inputs: InputView): RecordFault | undefined {
  return inputs.negative(COUNT) ? contractFault("CONTRACT_COUNT", "the count is negative") : undefined;
}

/** A count of 0 stands for no event: it counts nothing and nobody. */
function add(
  inputs: InputView,
  increments: Increments,
  prefix: KeyPrefix,
  widthMs: number,
  visitors: boolean,
): undefined {
  const counted = inputs.has(COUNT);
  const high = counted ? inputs.high(COUNT) : 0;
  const low = counted ? inputs.low(COUNT) : 1;
  if (high === 0 && low === 0) return undefined;
  increments.open(prefix);
  increments.part(inputs.bytes, inputs.start(ARTICLE), inputs.end(ARTICLE));
  increments.part(inputs.bytes, inputs.start(METRIC), inputs.end(METRIC));
  increments.moment(Math.floor(inputs.number(OCCURRED_AT) / widthMs) * widthMs);
  increments.select(0);
  increments.addWide(0, high, low);
  if (!visitors) return undefined;
  const visitorHigh = inputs.high(VISITOR);
  const visitorLow = inputs.low(VISITOR);
  if (visitorHigh !== 0 || visitorLow !== 0) increments.visitor(visitorHigh, visitorLow);
  return undefined;
}
