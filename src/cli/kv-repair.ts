import { isRecord } from "./definition-body.ts";
import type { CliInputs } from "./inputs.ts";
import { type Call, type ServiceAddress, attempt, callService, problemText } from "./service-call.ts";

/** What `kv repair` was asked for. */
export interface RepairOptions extends ServiceAddress {
  readonly owner: string;
  readonly reason: string;
  readonly acceptLoss: boolean;
}

const LOOK_EVERY_MS = 1_000;

const ACCEPT_LOSS =
  "one owner is up: bring another one back, or, where both others are lost for good, give --accept-loss; " +
  "what only those two held is gone then (docs/kv-owners.md)";

/**
 * Has a running service make an owner anew and tells how far it is, a line for each change, until the owner counts again.
 * Returns whether it does. Ending this command does not end the repair.
 * @throws StreamsError CONFIG_INVALID for an unusable URL or token file
 */
export async function repairOwner(options: RepairOptions, inputs: CliInputs): Promise<boolean> {
  const { owner, reason, acceptLoss } = options;
  const call = callService(options, inputs);
  const body = JSON.stringify({ reason, ...(acceptLoss && { acceptLoss }) });
  const headers = { "content-type": "application/json" };
  const answer = await attempt(call, "POST", `v1/kv/owners/${encodeURIComponent(owner)}/repair`, headers, body);
  if (typeof answer === "string" || answer.status !== 202) {
    inputs.err(`${typeof answer === "string" ? answer : problemText("POST", answer)}\n`);
    if (typeof answer !== "string" && !acceptLoss && refusedRepair(answer.body) && (await oneIsLeft(call)))
      inputs.err(`${ACCEPT_LOSS}\n`);
    return false;
  }
  return await follow(owner, call, inputs);
}

function refusedRepair(body: unknown): boolean {
  return isRecord(body) && body["code"] === "KV_REPAIR_REFUSED";
}

/** Whether only one owner is up: then a repair needs the operator's word. */
async function oneIsLeft(call: Call): Promise<boolean> {
  const answer = await attempt(call, "GET", "v1/kv/owners", {});
  const owners: unknown = typeof answer !== "string" && isRecord(answer.body) ? answer.body["owners"] : undefined;
  if (!Array.isArray(owners)) return false;
  return owners.filter((entry) => isRecord(entry) && entry["state"] === "up").length === 1;
}

async function follow(owner: string, call: Call, inputs: CliInputs): Promise<boolean> {
  let told = "";
  for (;;) {
    const answer = await attempt(call, "GET", "v1/kv/owners", {});
    if (typeof answer === "string") {
      inputs.err(`${answer}; the repair goes on, GET /v1/kv/owners shows it\n`);
      return false;
    }
    const status = statusOf(answer.body, owner);
    const state = status?.["state"];
    const line = status === undefined ? problemText("GET", answer) : progressText(owner, status);
    if (line !== told) inputs.out(`${line}\n`);
    told = line;
    if (state !== "merging") return state === "up";
    await inputs.pause(LOOK_EVERY_MS);
  }
}

function statusOf(body: unknown, owner: string): Record<string, unknown> | undefined {
  const owners: unknown = isRecord(body) ? body["owners"] : undefined;
  if (!Array.isArray(owners)) return undefined;
  return owners.filter((entry) => isRecord(entry)).find((entry) => entry["owner"] === owner);
}

function progressText(owner: string, status: Record<string, unknown>): string {
  const { state, merge, reason } = status;
  if (state === "merging" && isRecord(merge)) {
    const { phase, cells, bytes, expectedBytes } = merge;
    const of = Number(expectedBytes) > 0 ? ` of about ${String(expectedBytes)}` : "";
    return `owner ${owner}: ${String(phase)}, ${String(cells)} cells, ${String(bytes)}${of} bytes`;
  }
  const why = isRecord(reason) ? ` (${String(reason["code"])}: ${String(reason["text"])})` : "";
  return `owner ${owner}: ${String(state)}${state === "up" ? "" : why}`;
}
