/** How a local broker is had: one that somebody else runs, Redpanda in Docker, or Apache Kafka on Java. */
export type BrokerWay = "external" | "docker" | "kafka";

/**
 * What a caller asks for. `auto`: `KAFKA_BROKERS`, else Docker, else Kafka. `own`: one that may be killed and restarted.
 * `kafka`: Apache Kafka.
 */
export type WantedWay = "auto" | "own" | "kafka";

/** A broker for the demo, the tests and the bench. */
export interface LocalBroker {
  /** Bootstrap addresses, `host:port`. */
  readonly brokers: readonly string[];
  readonly way: BrokerWay;
  /** The broker's pid; undefined when it is not a process of this machine's that we started. */
  readonly pid: number | undefined;
  /** Ends the broker and removes what is its own. Nothing happens to an external one. May be called twice. */
  stop(): Promise<void>;
  /** SIGKILL; the data stays. @throws LocalBrokerError when the broker is external. */
  kill(): Promise<void>;
  /** Starts it again at the same address with the same data, stopping it first when it runs. @throws LocalBrokerError */
  restart(): Promise<void>;
}

/** Options of `startBroker`. */
export interface StartBrokerOptions {
  /** `auto` when absent. */
  readonly way?: WantedWay;
  /** Port of the broker on 127.0.0.1; a free one when absent. */
  readonly port?: number;
  /** Keeps the data here across starts (implies `kafka`); a temporary folder, removed by `stop()`, when absent. */
  readonly dataDirectory?: string;
  /** Further lines of Kafka's server.properties (implies `kafka`); they win over the built-in ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * It lives for a test: Java compiles quickly and never well, which halves what starting and stopping it costs, and is slower
   * in the long run.
   */
  readonly shortLived?: boolean;
  /** Told what takes long, one line each. */
  readonly onProgress?: (line: string) => void;
  /** Cancels the start. */
  readonly signal?: AbortSignal;
}

/** A local broker cannot be had, started or used so; the text says what to do. */
export class LocalBrokerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LocalBrokerError";
  }
}
