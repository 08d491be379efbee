import { closeSync, existsSync, fsyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Environment } from "../../../src/kv/embedded/environment.ts";
import { DATA_FILE } from "../../../src/kv/embedded/store-file.ts";

/**
 * An owner's process that kills itself between the commit of a transaction and its answer, once, where its directory holds
 * this file. The transaction is made one that took pages at the end and gave them up again, as LMDB leaves them once in a
 * hundred: its meta page counts them, and nothing has written them.
 */
const DIE = "die-after-commit";
const GIVEN_UP = 8n;
const PAGE_BYTES = 4_096;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;

function countMorePages(directory: string): void {
  const file = openSync(join(directory, DATA_FILE), "r+");
  const number = Buffer.alloc(8);
  const read = (at: number): bigint => {
    readSync(file, number, 0, number.length, at);
    return number.readBigUInt64LE();
  };
  const inForce = read(TRANSACTION_AT) > read(PAGE_BYTES + TRANSACTION_AT) ? 0 : PAGE_BYTES;
  number.writeBigUInt64LE(read(inForce + LAST_PAGE_AT) + GIVEN_UP);
  writeSync(file, number, 0, number.length, inForce + LAST_PAGE_AT);
  fsyncSync(file);
  closeSync(file);
}

const setup: { readonly directory: string } = JSON.parse(process.argv.at(-1) ?? "null");
// oxlint-disable-next-line typescript/unbound-method -- it is applied to the one that it is called for
const { merge } = Environment.prototype;
Environment.prototype.merge = function dying(this: Environment, ...args) {
  const changed = merge.apply(this, args);
  const order = join(setup.directory, DIE);
  if (existsSync(order)) {
    rmSync(order);
    countMorePages(setup.directory);
    process.kill(process.pid, "SIGKILL");
  }
  return changed;
};

await import("../../../src/kv/embedded/owner-main.ts");
