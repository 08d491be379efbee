import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { errorsText, openApiText } from "../../local/openapi.ts";
import { Definition } from "../../routes/sources/definition-schema.ts";
import { ERROR_CODES, STATUS_OF_KIND, statusOf } from "../../routes/schema/problem.ts";
import { SourceSchema } from "../../src/config/schema-source.ts";
import { ERRORS } from "../../src/errors.ts";
import { testApp } from "./support/app.ts";
import { at, contractOf } from "./support/contract.ts";

const OPENAPI = new URL("../../openapi/openapi.json", import.meta.url);
const CATALOGUE = new URL("../../openapi/ERRORS.md", import.meta.url);
const REDOCLY = new URL("../../openapi/redocly.yaml", import.meta.url);

interface Operation {
  readonly place: string;
  readonly declared: Record<string, unknown>;
}

async function operations(): Promise<readonly Operation[]> {
  const { app } = await testApp();
  return Object.entries(contractOf(app)["paths"] as Record<string, Record<string, Record<string, unknown>>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, declared]) => ({ place: `${method} ${path}`, declared })),
  );
}

describe("openapi/openapi.json", () => {
  test("is what the routes say: write it again with 'npx tsx local/openapi.ts'", async () => {
    expect(await openApiText()).toBe(await readFile(OPENAPI, "utf8"));
  });

  test("passes its linter", async () => {
    const cli = createRequire(import.meta.url)
      .resolve("@redocly/cli/package.json")
      .replace("package.json", "bin/cli.js");
    const quiet = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const { stderr } = await promisify(execFile)(
      process.execPath,
      [cli, "lint", fileURLToPath(OPENAPI), "--config", fileURLToPath(REDOCLY)],
      { env: quiet },
    );
    expect(stderr).toContain("valid");
  });

  test("every operation has its words, a name of its own, and its failures", async () => {
    const all = await operations();
    expect(new Set(all.map(({ declared }) => declared["operationId"])).size).toBe(all.length);
    for (const { place, declared } of all) {
      for (const word of ["operationId", "summary", "description", "tags", "security"]) at(declared, word);
      for (const status of ["400", "403", "408", "414", "417", "431", "500", "503"]) at(declared, "responses", status);
      const open = place.endsWith("z");
      expect(Object.keys(at(declared, "responses") as object).includes("401"), place).toBe(!open);
      expect(declared["security"], place).toEqual(open ? [] : [{ bearer: [] }]);
    }
  });

  test("a failure's description names codes of the catalogue that have its status", async () => {
    for (const { place, declared } of await operations()) {
      for (const [status, response] of Object.entries(
        at(declared, "responses") as Record<string, { description: string }>,
      )) {
        for (const [, code = ""] of response.description.matchAll(/`([A-Z_]+)`/g)) {
          const known = ERROR_CODES.find((name) => name === code);
          expect(known, `${place} ${status} ${code}`).toBeDefined();
          if (known !== undefined) expect(String(statusOf(known)), `${place} ${code}`).toBe(status);
        }
      }
    }
  });

  test("the members of a definition are those of the configuration, with the same patterns", () => {
    const { worstLag: _duration, ...seed } = SourceSchema.properties;
    const { worstLagMs: _milliseconds, ...members } = Definition.properties;
    expect(Object.keys(members).toSorted()).toEqual(Object.keys(seed).toSorted());
    for (const name of ["name", "topic", "group", "namespace", "deadLetterTopic"] as const) {
      expect(members[name].pattern, name).toBe(seed[name].pattern);
    }
  });
});

describe("openapi/ERRORS.md", () => {
  test("is the catalogue: every code, once, with its status, title and remedy, and nothing else", async () => {
    const text = await readFile(CATALOGUE, "utf8");
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| (.+?) \| (.+) \|$/gm)];
    const written = rows.map(([, code, status, title, remedy]) => ({ code, status: Number(status), title, remedy }));
    const catalogue = Object.entries(ERRORS).map(([code, { kind, title, remedy }]) => ({
      code,
      status: STATUS_OF_KIND[kind],
      title,
      remedy,
    }));
    expect(written).toEqual(catalogue);
    expect(text).toBe(errorsText(await openApiText()));
  });

  test("no text of the catalogue breaks its table", () => {
    for (const { title, remedy } of Object.values(ERRORS)) expect(title + remedy).not.toMatch(/[|\n]/);
  });
});
