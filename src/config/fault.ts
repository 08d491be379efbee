import type { SourceSeed } from "../core/source.ts";
import { StreamsError } from "../errors.ts";

/** One thing that is wrong with the configuration. No text of it holds a secret. */
export interface ConfigFault {
  /** Place within the file: `sources[0].topic`; empty for the file as a whole. */
  readonly path: string;
  /** Line in the file, from 1; absent for what is missing or does not come from the file. */
  readonly line?: number;
  /** What was found. */
  readonly found: string;
  /** What is right, or what to do. */
  readonly right: string;
}

/** One line of text for a fault: `streams.yaml:12: limits.drainTimeot: unknown key; did you mean …`. */
export function faultText(fault: ConfigFault, file?: string): string {
  const place = [file, fault.line].filter((part) => part !== undefined).join(":");
  return [place, fault.path, `${fault.found}; ${fault.right}`].filter((part) => part !== "").join(": ");
}

/** Faults that are reported at once. */
const FAULTS_MAX = 50;

/** A configuration that cannot be used; `extra.faults` has the faults one by one. */
export class InvalidConfig extends StreamsError {
  /** The sources without a fault of their own, so that what only the build knows of them can be told at the same time. */
  readonly sources: readonly SourceSeed[];

  constructor(detail: string, faults: readonly ConfigFault[], sources: readonly SourceSeed[]) {
    super("CONFIG_INVALID", detail, { faults });
    this.sources = sources;
  }
}

/** All faults of a configuration as one CONFIG_INVALID, in the order of the file. */
export function configError(
  faults: readonly ConfigFault[],
  file?: string,
  sources: readonly SourceSeed[] = [],
): InvalidConfig {
  const ordered = faults.toSorted((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity));
  const kept = ordered.slice(0, FAULTS_MAX);
  const lines = kept.map((fault) => faultText(fault, file));
  if (ordered.length > kept.length) lines.push(`… and ${ordered.length - kept.length} more`);
  return new InvalidConfig(lines.join("\n"), kept, sources);
}

/** A value as a fault may show it: short, on one line. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
