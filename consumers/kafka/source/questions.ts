import type { Cluster } from "kafkajs";
import { SourceFault } from "../../../src/ports/record-source.ts";
import { toSourceFault } from "../classify-error.ts";
import { withDeadline } from "../client/deadline.ts";
import { createClient, createConsumer } from "../client/kafka-client.ts";
import type { ResolvedSource } from "../options.ts";

/** A connection to the cluster, and what shuts it. */
export interface ProbeConnection {
  readonly cluster: Cluster;
  close(): void;
}

/** Opens a connection. */
export type ConnectProbe = (source: ResolvedSource) => Promise<ProbeConnection>;

/**
 * Questions to the cluster on a connection of their own, opened by the first one; after any failure it is thrown away and
 * built anew.
 */
export class Questions {
  readonly #source: ResolvedSource;
  readonly #connect: ConnectProbe;
  #connected: Promise<ProbeConnection> | undefined;
  #closed = false;

  constructor(source: ResolvedSource, connect: ConnectProbe) {
    this.#source = source;
    this.#connect = connect;
  }

  /** Asks within the deadline of an administrative call. @throws SourceFault */
  async ask<T>(what: string, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    if (this.#closed) throw new SourceFault("unknown", "the source is stopped");
    const { clock, timings } = this.#source;
    const connected = (this.#connected ??= this.#connect(this.#source));
    const answer = connected.then(async ({ cluster }) => work(cluster));
    try {
      return await withDeadline(clock, timings.adminMs, what, answer);
    } catch (error) {
      if (this.#connected === connected) this.#discard();
      throw toSourceFault(error, this.#source.topic);
    }
  }

  /** Shuts the connection for good. Never rejects. */
  close(): void {
    this.#closed = true;
    this.#discard();
  }

  #discard(): void {
    const connected = this.#connected;
    this.#connected = undefined;
    connected?.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }
}

/** Opens a connection whose cluster reads committed data and has the topic in its metadata. */
export async function connectProbe(source: ResolvedSource): Promise<ProbeConnection> {
  const { timings, group, topic } = source;
  const { connectMs, requestMs } = timings;
  const { kafka, gate } = createClient(source, { connectMs, requestMs, stallMs: requestMs + 5_000 });
  // Never run: it only carries a cluster that reads committed data, with the topic in its metadata.
  const { cluster } = createConsumer(kafka, { groupId: group, metadataMaxAge: timings.metadataMaxAgeMs });
  try {
    await cluster.connect();
    await cluster.addMultipleTargetTopics([topic]);
    // The gate ends it: a disconnect of kafkajs' could wait for answers that never come.
    return { cluster, close: () => gate.close() };
  } catch (error) {
    gate.close();
    throw error;
  }
}
