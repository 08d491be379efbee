import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { open, type RootDatabase } from "lmdb";
import type { DrainFigures } from "./kafkajs-alone.ts";

/**
 * Writes new documents into three LMDB environments as one would without a service: each batch is put into all three and their
 * flush awaited, two batches at a time. `value` gives the bytes of a document's number.
 */
export async function fillBareLmdb(
  root: string,
  documents: number,
  batchSize: number,
  value: Uint8Array,
): Promise<DrainFigures> {
  const stores = ["x", "y", "z"].map((name) =>
    open<Buffer, Buffer>({ path: join(root, name), noSubdir: false, encoding: "binary", keyEncoding: "binary" }),
  );
  let made = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const writer = async (): Promise<void> => {
    while (made < documents) {
      const from = made;
      made = Math.min(documents, made + batchSize);
      await Promise.all(stores.map((store) => putBatch(store, { from, to: made, documents, value })));
    }
  };
  await Promise.all([writer(), writer()]);
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await Promise.all(stores.map((store) => store.close()));
  return { records: documents, seconds, cpuSeconds: (user + system) / 1e6 };
}

interface Batch {
  readonly from: number;
  readonly to: number;
  readonly documents: number;
  readonly value: Uint8Array;
}

async function putBatch(store: RootDatabase<Buffer, Buffer>, batch: Batch): Promise<void> {
  const { from, to, documents, value } = batch;
  let last: Promise<boolean> = Promise.resolve(true);
  for (let document = from; document < to; document += 1) {
    // The order in which articles come from the topic: not that of their keys.
    const key = Buffer.from(`articles a${String((document * 7_919) % documents).padStart(8, "0")}`);
    last = store.put(key, Buffer.from(value));
  }
  await last;
  await store.flushed;
}
