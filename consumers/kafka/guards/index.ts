import { guardDefaultOffset } from "./default-offset.ts";
import { guardFetchLoop } from "./fetch-loop.ts";
import { guardFetchResponse } from "./fetch-response.ts";
import { guardIdleQueue } from "./idle-queue.ts";
import { guardLeaderless } from "./leaderless.ts";
import { guardNegativeCommit } from "./negative-commit.ts";
import { guardOutOfRange } from "./out-of-range.ts";
import { requireVersion } from "./pin.ts";
import { guardProduceRequest } from "./produce-request.ts";
import { guardShortSession } from "./short-session.ts";
import { loadStockParts } from "./stock-batch.ts";

/** `undefined` before the first try; a failure stays one, since some guards are in place after it. */
let outcome: { readonly failure: unknown } | "installed" | undefined;

/**
 * Corrects the installed kafkajs where it can move an offset, lose records or be killed by one partition. Idempotent;
 * call it before the first client connects. Each guard says in its own file what it replaces and why.
 * @throws GuardMismatch when kafkajs is not exactly as published: consuming with it is then not safe.
 */
export function installGuards(): void {
  if (outcome === "installed") return;
  if (outcome !== undefined) throw outcome.failure;
  try {
    install();
    outcome = "installed";
  } catch (failure) {
    outcome = { failure };
    throw failure;
  }
}

function install(): void {
  requireVersion();
  loadStockParts();
  guardOutOfRange();
  guardDefaultOffset();
  guardNegativeCommit();
  guardIdleQueue();
  guardFetchResponse();
  guardFetchLoop();
  guardLeaderless();
  guardProduceRequest();
  guardShortSession();
}
