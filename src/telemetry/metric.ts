/** Labels and value of one series. */
export type Series = readonly [labels: Readonly<Record<string, string | number>>, value: number];

/** One metric: how it is called, and its series in a snapshot. */
export interface MetricOf<Snapshot> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly series: (snapshot: Snapshot) => readonly Series[];
}
