import type { SourceSeed, StreamsConfig } from "../config/index.ts";
import { changedMembers, desiredDefinition, isRecord, seedBody, type DefinitionBody } from "./definition-body.ts";
import type { CliInputs } from "./inputs.ts";
import { type Answer, type Call, type ServiceAddress, attempt, callService, problemText } from "./service-call.ts";

/** What `apply` was asked for. */
export interface ApplyOptions extends ServiceAddress {
  /** Only says what would change. */
  readonly dryRun: boolean;
}

/**
 * Puts the file's sources in force on a running service: reads each definition, and where the file says something else
 * writes it with If-Match; a source that the service does not have is defined, which starts it. One line per source tells what happened; returns whether all of them are now as the file says.
 * @throws StreamsError CONFIG_INVALID for an unusable URL or token file
 */
export async function apply(options: ApplyOptions, config: StreamsConfig, inputs: CliInputs): Promise<boolean> {
  const call = callService(options, inputs);
  if (config.sources.length === 0) inputs.out("the file has no sources\n");
  let allApplied = true;
  for (const source of config.sources) {
    const outcome = await applySource(source, call, options.dryRun);
    const line = `${source.name}: ${outcome.text}\n`;
    if (outcome.ok) inputs.out(line);
    else inputs.err(line);
    allApplied &&= outcome.ok;
  }
  return allApplied;
}

interface Outcome {
  readonly ok: boolean;
  readonly text: string;
}

async function applySource(source: SourceSeed, call: Call, dryRun: boolean): Promise<Outcome> {
  const path = `v1/sources/${encodeURIComponent(source.name)}/definition`;
  const present = await attempt(call, "GET", path, {});
  if (typeof present === "string") return { ok: false, text: present };
  if (present.status === 404 && isRecord(present.body) && present.body["code"] === "SOURCE_UNKNOWN") {
    return dryRun ? { ok: true, text: `would be added: ${newText(source)}` } : create(call, path, source);
  }
  const inForce = isRecord(present.body) ? present.body["definition"] : undefined;
  if (present.status !== 200 || !isRecord(inForce) || present.etag === undefined) return refused("GET", present);
  const desired = desiredDefinition(source, inForce);
  if (typeof desired === "string") return { ok: false, text: desired };
  const changed = changedMembers(inForce, desired);
  if (changed.length === 0) return { ok: true, text: "unchanged" };
  const changes = changed.map((member) => `${member} ${show(inForce[member])} → ${show(desired[member])}`).join(", ");
  return dryRun ? { ok: true, text: `would change ${changes}` } : put(call, path, present.etag, desired, changes);
}

async function create(call: Call, path: string, source: SourceSeed): Promise<Outcome> {
  const headers = { "if-none-match": "*", "content-type": "application/json" };
  const answer = await attempt(call, "PUT", path, headers, JSON.stringify(seedBody(source)));
  if (typeof answer === "string") return { ok: false, text: answer };
  return answer.status === 201 ? { ok: true, text: `added: ${newText(source)}` } : refused("PUT", answer);
}

function newText({ kind, topic, group }: SourceSeed): string {
  return `${kind} from ${topic} as ${group}`;
}

async function put(call: Call, path: string, etag: string, desired: DefinitionBody, changes: string): Promise<Outcome> {
  const headers = { "if-match": etag, "content-type": "application/json" };
  const answer = await attempt(call, "PUT", path, headers, JSON.stringify(desired));
  if (typeof answer === "string") return { ok: false, text: answer };
  return answer.status === 200 ? { ok: true, text: `changed ${changes}` } : refused("PUT", answer);
}

function show(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value);
}

function refused(method: string, answer: Answer): Outcome {
  return { ok: false, text: problemText(method, answer) };
}
