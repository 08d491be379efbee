/** Writes `openapi/openapi.json` and `openapi/ERRORS.md` from the routes and the error catalogue: `tsx local/openapi.ts`. */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ERROR_CODES, statusOf } from "../routes/schema/problem.ts";
import { buildApp } from "../routes/index.ts";
import { createAccess } from "../src/access/index.ts";
import { ERRORS } from "../src/errors.ts";
import type { ControlPlane } from "../src/ports/control-plane.ts";
import { operationsNotBuilt, pathsOf } from "./remedies.ts";

const OPENAPI = new URL("../openapi/openapi.json", import.meta.url);
const CATALOGUE = new URL("../openapi/ERRORS.md", import.meta.url);
const PACKAGE = new URL("../package.json", import.meta.url);

/** The OpenAPI document of the routes as they are, with the package's version. */
export async function openApiText(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(PACKAGE, "utf8"));
  const app = await buildApp({
    controlPlane: unused(),
    access: createAccess([]),
    logger: silent(),
    clock: { now: refuse, monotonic: refuse, after: refuse },
    release: versionOf(manifest),
    metrics: refuse,
  });
  const text = `${JSON.stringify(app.swagger(), undefined, 2)}\n`;
  await app.close();
  return text;
}

/** The error catalogue as a page: one row per code, and which operations its remedies name that the contract lacks. */
export function errorsText(openApi: string): string {
  const rows = ERROR_CODES.map(
    (code) => `| \`${code}\` | ${statusOf(code)} | ${ERRORS[code].title} | ${ERRORS[code].remedy} |`,
  );
  return `# Errors

Every failure is a problem document (RFC 9457, \`application/problem+json\`). Decide on \`code\`: it is stable. \`detail\` and the
other texts are for people and may change. \`type\` is \`urn:ysearch-streams:error:<code>\`; \`requestId\` is in the log.

This page is written by \`local/openapi.ts\`; a test holds it to the catalogue in \`src/errors.ts\`.

| code | status | title | remedy |
|---|---|---|---|
${rows.join("\n")}
${notBuiltText(openApi)}`;
}

function notBuiltText(openApi: string): string {
  const missing = operationsNotBuilt(pathsOf(openApi)).map(({ what }) => `- ${what}`);
  if (missing.length === 0) return "";
  return `
## Not in this version

Remedies, those of stopped partitions above all, may name what this version cannot do yet. A stopped partition skips nothing
while it waits, but its topic's retention goes on: raise that before the first unread record expires.

${missing.join("\n")}
`;
}

function versionOf(manifest: unknown): string {
  if (
    typeof manifest === "object" &&
    manifest !== null &&
    "version" in manifest &&
    typeof manifest.version === "string"
  ) {
    return manifest.version;
  }
  throw new Error("package.json has no version");
}

/** Describing the routes calls none of them. */
function refuse(): never {
  throw new Error("a route was called while the contract was written");
}

function unused(): ControlPlane {
  return {
    health: { ready: refuse, ingest: refuse },
    sources: {
      list: refuse,
      get: refuse,
      definition: refuse,
      partitions: refuse,
      partition: refuse,
    },
    definitions: { define: refuse, create: refuse },
    lag: { all: refuse, ofSource: refuse },
    documents: { read: refuse },
    dials: { readDial: refuse },
    counters: { traffic: refuse, trafficOf: refuse, actions: refuse, actionsOf: refuse, calibration: refuse },
    pauses: { pause: refuse, unpause: refuse },
    resumptions: { etag: refuse, resume: refuse, resumeAll: refuse },
    epochs: { open: refuse },
    gaps: { list: refuse },
    audit: { list: refuse },
    jobs: { submit: refuse, preview: refuse, get: refuse, list: refuse, cancel: refuse, standing: refuse },
    barriers: { create: refuse, get: refuse },
    instances: { list: refuse },
    explain: { record: refuse, key: refuse },
    letters: { list: refuse },
    descriptors: {
      register: refuse,
      check: refuse,
      list: refuse,
      get: refuse,
      remove: refuse,
      activate: refuse,
      ledger: refuse,
      unknownFields: refuse,
    },
    owners: { owners: refuse, writeAcks: 2, readOwners: 2, repair: refuse },
  };
}

function silent() {
  const nothing = () => undefined;
  const logger = {
    level: "silent",
    silent: nothing,
    fatal: nothing,
    error: nothing,
    warn: nothing,
    info: nothing,
    debug: nothing,
    trace: nothing,
    child: () => logger,
  };
  return logger;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const openApi = await openApiText();
  await writeFile(OPENAPI, openApi);
  await writeFile(CATALOGUE, errorsText(openApi));
}
