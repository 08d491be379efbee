import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadAverage } from "./processes.ts";

const RESULTS = fileURLToPath(new URL("../results/", import.meta.url));
const loadAtStart = loadAverage();

/** The middle one of several measurements; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The value that a share of all is at or below, such as 0.99. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

/** Puts figures into `bench/results/NAME.json`, in the place of those that have the same names; the others stay. */
export function writeResult(name: string, figures: Readonly<Record<string, unknown>>): void {
  mkdirSync(RESULTS, { recursive: true });
  const file = `${RESULTS}${name}.json`;
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>) : {};
  const machine = { node: process.version, loadAverageAtStart: loadAtStart };
  writeFileSync(file, `${JSON.stringify({ ...before, ...machine, ...figures }, undefined, 2)}\n`);
}
