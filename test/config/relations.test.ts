import { expect, test } from "vitest";
import { LIMITS } from "../../src/config/index.ts";
import { RELATIONS, relationText, spell } from "../../src/config/relations.ts";
import { faultsOf, load } from "./support.ts";

test.each(RELATIONS.map((relation) => [relationText(relation), relation] as const))(
  "%s",
  (text, { low, factor = 1, orEqual, high }) => {
    // Every other limit keeps out of the way: low at what high allows, high at its default or just below what low can be.
    const highValue = Math.min(LIMITS[high].default, LIMITS[low].max * factor - 1);
    const broken = Math.floor(highValue / factor) + 1;
    const faults = faultsOf({ yaml: `limits: { ${low}: ${write(low, broken)}, ${high}: ${write(high, highValue)} }` });
    expect(faults.map((fault) => [fault.path, fault.right.startsWith(text)])).toContainEqual([`limits.${low}`, true]);
    const allowed = Math.floor(highValue / factor) - (orEqual ? 0 : 1);
    const { path, others } = relationFaults(low, allowed, high, highValue, text);
    expect([path, others]).toEqual([undefined, expect.any(Number)]);
  },
);

function relationFaults(
  low: keyof typeof LIMITS,
  lowValue: number,
  high: keyof typeof LIMITS,
  highValue: number,
  text: string,
) {
  const yaml = `limits: { ${low}: ${write(low, lowValue)}, ${high}: ${write(high, highValue)} }`;
  try {
    load({ yaml });
    return { path: undefined, others: 0 };
  } catch {
    const faults = faultsOf({ yaml });
    const own = faults.find((fault) => fault.right.startsWith(text));
    return { path: own?.path, others: faults.length };
  }
}

function write(name: keyof typeof LIMITS, value: number): string {
  return LIMITS[name].unit === "ms" ? `${value}ms` : `${value}`;
}

test.each(RELATIONS.map((relation) => [relationText(relation), relation] as const))(
  "%s at the border",
  (text, relation) => {
    const { low, factor = 1, orEqual, high } = relation;
    const highValue = Math.floor(Math.min(LIMITS[high].default, LIMITS[low].max * factor) / factor) * factor;
    const { path } = relationFaults(low, highValue / factor, high, highValue, text);
    expect(path).toBe(orEqual ? undefined : `limits.${low}`);
  },
);

test("the floors of all sources must fit into the budget", () => {
  const sources = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `s${n}`, kind: "documents", topic: "t" }));
  const limits = { inFlightBytes: "8MiB", fetchBytes: "8MiB", sourceFloorBytes: "2MiB" };
  expect(load({ yaml: JSON.stringify({ limits, sources: sources(4) }) }).config.sources).toHaveLength(4);
  expect(faultsOf({ yaml: JSON.stringify({ limits, sources: sources(5) }) })).toMatchObject([
    { path: "limits.inFlightBytes", right: expect.stringContaining("at least 10MiB") as unknown },
  ]);
});

test("a relation is not judged by a limit that is wrong itself", () => {
  expect(faultsOf({ yaml: "limits: { heartbeatInterval: soon, sessionTimeout: 2s }" })).toHaveLength(1);
});

test("limits are spelled as the file spells them", () => {
  expect([spell("drainTimeout", 20_000), spell("inFlightBytes", 67_108_864)]).toEqual(["20s", "64MiB"]);
});
