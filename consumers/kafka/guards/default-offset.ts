import type { OffsetManagerInternals } from "./internals.ts";
import { loadClass, requireText } from "./pin.ts";

/** Somebody tried to make kafkajs choose a position by itself. */
export class DefaultOffsetRefused extends Error {
  /** kafkajs reads this: the consumer crashes instead of trying again. */
  readonly retriable = false;

  constructor(topic: string, partition: number) {
    super(`refused to reset ${topic}/${partition} to a default offset`);
    this.name = "DefaultOffsetRefused";
  }
}

/** G2. What G1 makes unreachable: the method that commits −1 or −2. Reached all the same, it crashes the consumer. */
export function guardDefaultOffset(): void {
  const { prototype: manager } = loadClass<OffsetManagerInternals>("src/consumer/offsetManager/index.js", [
    "setDefaultOffset",
    "nextOffset",
    "committedOffsets",
    "commitOffsets",
  ]);
  requireText("setDefaultOffset", manager.setDefaultOffset, "4ebfa038e4f955bd");
  requireText("OffsetManager.commitOffsets", manager.commitOffsets, "7743228873145150");
  manager.setDefaultOffset = refuse;
}

async function refuse(at: { topic: string; partition: number }): Promise<void> {
  throw new DefaultOffsetRefused(at.topic, at.partition);
}
