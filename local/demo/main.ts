import { parseArgs } from "node:util";
import { LocalBrokerError } from "../broker/local-broker.ts";
import { outliveTerminal } from "../process/terminal.ts";
import { runCheck } from "./check.ts";
import { runContinuous } from "./continuous.ts";
import { openStage } from "./stage.ts";

const USAGE = `npm run demo [-- --check]

Starts a broker, the service and the feeds of the product on this machine: articles, beacons, ad actions, campaigns,
dials, bids.
Without flags it runs until Ctrl-C. With --check it produces a fixed set, kills the service with SIGKILL in between,
verifies everything over HTTP, and exits 0 or says what differed.`;

/** How long a further signal is taken for the same one: a group gets it once from the terminal and once from its parent. */
const SAME_SIGNAL_MS = 3_000;

/** The first signal stops what was started, in order; one that comes much later ends at once. */
function stopOnce(stopping: AbortController): () => void {
  let first: number | undefined;
  return () => {
    if (first !== undefined && Date.now() - first > SAME_SIGNAL_MS) process.exit(130);
    first ??= Date.now();
    stopping.abort();
  };
}

async function main(argv: readonly string[]): Promise<number> {
  let flags: { check?: boolean; help?: boolean };
  try {
    flags = parseArgs({ args: [...argv], options: { check: { type: "boolean" }, help: { type: "boolean" } } }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (flags.help === true) {
    console.log(USAGE);
    return 0;
  }
  const stopping = new AbortController();
  const stop = stopOnce(stopping);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  outliveTerminal();
  try {
    const stage = await openStage(stopping.signal);
    try {
      return flags.check === true ? await runCheck(stage) : await runContinuous(stage, stopping.signal);
    } finally {
      await stage.close();
    }
  } catch (error) {
    if (stopping.signal.aborted) return 130;
    console.error(error instanceof LocalBrokerError ? error.message : error);
    return 1;
  }
}

process.exit(await main(process.argv.slice(2)));
