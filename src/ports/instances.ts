/** One process of the deployment, as it last said of itself. Times are milliseconds since 1970. */
export interface InstanceView {
  /** Made anew by each process. */
  readonly id: string;
  readonly release: string;
  readonly phase: "starting" | "serving" | "draining";
  readonly startedAt: number;
  /** When it said so last. */
  readonly seenAt: number;
  /** Without a word until then it is forgotten. */
  readonly expiresAt: number;
  /** Partitions that it runs. */
  readonly sources: readonly { readonly source: string; readonly partitions: readonly number[] }[];
}

/** Who runs, as the store says. */
export interface InstanceQueries {
  /** By the time of their start. @throws KvFault */
  list(): Promise<{ readonly asOf: number; readonly instances: readonly InstanceView[] }>;
}
