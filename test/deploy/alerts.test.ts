import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { FakeControlPlane } from "../routes/support/fake-control-plane.ts";
import { ROOT } from "../tidy/files.ts";

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const rules = (parse(readFileSync(join(ROOT, "deploy/alerts.yaml"), "utf8")) as Rules).groups.flatMap(
  (group) => group.rules,
);
const text = (await createMetrics(new FakeControlPlane())()).text.split("\n").filter((line) => !line.startsWith("#"));

test("there are rules", () => expect(rules.length).toBeGreaterThan(5));

test.each(rules)("$alert asks for a metric, and for a state of it, that there is", ({ expr }) => {
  const names = expr.match(/ysearch_streams_\w+/g) ?? [];
  expect(names).toHaveLength(1);
  const series = text.filter((line) => new RegExp(`^${names[0]}[{ ]`).test(line));
  expect(series).not.toEqual([]);
  for (const [, label, state] of expr.matchAll(/(\w+)!?="([^"]+)"/g))
    expect(series.filter((line) => line.includes(`${label}="${state}"`))).not.toEqual([]);
  for (const [, labels = ""] of expr.matchAll(/by \(([^)]+)\)/g))
    for (const label of labels.split(", ").filter((name) => name !== "instance"))
      expect(series[0]).toContain(`${label}="`);
});
