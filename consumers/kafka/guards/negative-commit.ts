import type { BrokerInternals, CommitRequest } from "./internals.ts";
import { loadClass, requireText } from "./pin.ts";

const OFFSET = /^[0-9]{1,16}$/;

/** A commit of something that is no offset, whoever asked for it. */
export class NegativeCommitRefused extends Error {
  readonly retriable = false;

  constructor(topic: string, partition: number) {
    super(`refused to commit something that is no offset for ${topic}/${partition}`);
    this.name = "NegativeCommitRefused";
  }
}

/** G3. The last gate before the wire: no request to commit a negative or unreadable offset leaves this process. */
export function guardNegativeCommit(): void {
  const { prototype: broker } = loadClass<BrokerInternals>("src/broker/index.js", ["offsetCommit"]);
  const original = broker.offsetCommit;
  requireText("Broker.offsetCommit", original, "7c1f9accf0433c80");
  broker.offsetCommit = async function refuseNegative(this: BrokerInternals, request): Promise<unknown> {
    requireOffsets(request);
    return original.call(this, request);
  };
}

function requireOffsets(request: CommitRequest): void {
  for (const { topic, partitions } of request.topics) {
    for (const { partition, offset } of partitions) {
      if (!OFFSET.test(String(offset))) throw new NegativeCommitRefused(topic, partition);
    }
  }
}
