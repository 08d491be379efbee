import { logLevel, type LogEntry } from "kafkajs";
import { Repeats } from "../../../src/core/repeats.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Logger } from "../../../src/ports/logger.ts";

const TEXT_MAX = 300;

/**
 * What kafkajs logs as an error although it is daily life, or what the supervisor reports itself with its cause: a
 * rebalance, the member id handshake, connections that break while a broker restarts.
 */
const EXPECTED =
  /rebalanc|re-join|resync group|not aware of this member|member id|connection|connect to|coordinator|Response (?:JoinGroup|SyncGroup|Heartbeat|OffsetCommit|OffsetFetch|Fetch|Metadata|FindCoordinator|LeaveGroup)|^Crash: /i;

/** A source's clients are built anew at each attempt: what one has said, the next must not say again. */
const REPEATS = new WeakMap<Logger, Repeats>();

function repeatsOf(logger: Logger): Repeats {
  const repeats = REPEATS.get(logger) ?? new Repeats();
  REPEATS.set(logger, repeats);
  return repeats;
}

/**
 * Passes kafkajs' log on: what is expected as debug, the rest as warnings, equal lines of all clients that share a logger at most
 * once a minute. Only the text, the namespace and the broker are taken; kafkajs' further fields can hold whole payloads.
 */
export function createLogAdapter(logger: Logger, clock: Clock): () => (entry: LogEntry) => void {
  const repeats = repeatsOf(logger);
  return () => (entry) => {
    // An Error at times, whatever its type says.
    const message: unknown = entry.log.message;
    const text = String(message).slice(0, TEXT_MAX);
    const broker: unknown = entry.log["broker"];
    const error: unknown = entry.log["error"];
    const fields = {
      part: entry.namespace,
      ...(typeof broker === "string" ? { broker } : {}),
      ...(typeof error === "string" ? { error: error.slice(0, TEXT_MAX) } : {}),
    };
    const problem = entry.level === logLevel.ERROR || entry.level === logLevel.WARN;
    if (!problem || EXPECTED.test(text)) {
      logger.debug(fields, `kafkajs: ${text}`);
      return;
    }
    const held = repeats.note(text, clock.monotonic());
    if (held !== undefined) logger.warn({ ...fields, repeated: held }, `kafkajs: ${text}`);
  };
}
