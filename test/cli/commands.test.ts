import { createHash } from "node:crypto";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { parseTokens } from "../../src/access/index.ts";
import { load } from "../config/support.ts";
import { cli } from "./support.ts";

const TOKEN = "0123456789abcdefghijklmnop";

test("serve hands the configuration over and passes its exit code on", async () => {
  const files = { "/srv/app/streams.yaml": "http: { port: 0 }" };
  expect(await cli([], { files })).toMatchObject({ code: 7, out: "", err: "", served: [{ http: { port: 0 } }] });
});

test("serve does not start with a configuration that has faults, and tells all of them", async () => {
  const files = { "/srv/app/other.yaml": "htp: {}\nlog: { level: loud }" };
  const { code, err, served } = await cli(["--config", "other.yaml"], { files });
  expect({ code, served, lines: err.trimEnd().split("\n").length }).toEqual({ code: 1, served: [], lines: 2 });
  expect(err).toContain("other.yaml:1: htp: unknown key; did you mean http?");
});

test("--config goes before STREAMS_CONFIG", async () => {
  const files = { "/srv/app/a.yaml": "http: { port: 1 }", "/srv/app/b.yaml": "http: { port: 2 }" };
  const { served } = await cli(["--config", "a.yaml"], { files, env: { STREAMS_CONFIG: "b.yaml" } });
  expect(served).toMatchObject([{ http: { port: 1 } }]);
});

test("check summarises a valid configuration", async () => {
  const files = {
    "/srv/app/streams.yaml":
      "http: { host: '::', tokensFile: tokens }\nsources: [{ name: articles, kind: documents, topic: t }]",
    "/srv/app/tokens": `${JSON.stringify({ name: "ops", role: "admin", sha256: "a".repeat(64) })}\n`,
  };
  const { code, out, err } = await cli(["check"], { files });
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^warning: http\.host/) as unknown });
  expect(out).toContain("http://[::]:8080, 1 token\n");
  expect(out).toContain("valid, 1 warning\n");
  expect(out).toContain("articles: documents from t as ysearch-streams.articles");
});

test("check tells the faults of the file and what the build knows of its other sources in one run", async () => {
  const files = {
    "/srv/app/streams.yaml":
      "http: { prt: 1 }\nsources: [{ name: A, kind: traffic, topic: t }, { name: b, kind: traffic, topic: t }]",
  };
  const { code, err, checked } = await cli(["check"], { files, faults: ["source b: not in this build"] });
  expect({ code, checked }).toEqual({ code: 1, checked: ["b"] });
  expect(err.trimEnd().split("\n")).toEqual([
    expect.stringContaining("http.prt: unknown key"),
    expect.stringContaining("sources[0].name"),
    "source b: not in this build",
  ]);
});

test("check refuses a tokens file that is none", async () => {
  const files = { "/srv/app/streams.yaml": "http: { tokensFile: tokens }", "/srv/app/tokens": `ops: ${TOKEN}` };
  const { code, out, err } = await cli(["check"], { files });
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).not.toContain(TOKEN);
});

test("--print-config tells each value with its origin and hides secrets", async () => {
  const files = {
    "/srv/app/streams.yaml": `
broker: { brokers: "\${BROKERS}", sasl: { mechanism: scram-sha-256, username: u, password: "\${PASSWORD}" } }
limits: { drainTimeout: 15s }
sources:
  - { name: a, kind: documents, topic: t, startFrom: 2026-01-31T00:00:00Z, mapping: { id: "3.1" } }
`,
  };
  const env = { BROKERS: "a:1,b:2", PASSWORD: "hunter2" };
  const { code, out, err } = await cli(["--print-config"], { files, env });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).not.toContain("hunter2");
  for (const line of [
    "# /srv/app/streams.yaml",
    "  host: 127.0.0.1 # default",
    "brokers: [a:1, b:2] # env BROKERS",
    "password: (set) # env PASSWORD",
    "drainTimeout: 15s # file",
    "inFlightBytes: 64MiB # default",
    "name: a # file",
    "group: ysearch-streams.a # default",
    "worstLag: 24h # default",
    "directories: [/srv/app/data/a, /srv/app/data/b, /srv/app/data/c] # default",
  ]) {
    expect(out).toContain(line);
  }
});

test("what --print-config prints is a configuration that says the same", async () => {
  const yaml = `
limits: { drainTimeout: 15s, inFlightBytes: 128MiB }
sources:
  - { name: a, kind: documents, topic: t, startFrom: 2026-01-31T00:00:00.250Z, mapping: { id: "3.1", x: 2 } }
  - { name: b, kind: documents, topic: t, format: json, startFrom: latest, worstLag: 90m }
`;
  const { out } = await cli(["--print-config"], { files: { "/srv/app/streams.yaml": yaml } });
  expect(parse(out)).toBeTypeOf("object");
  expect(load({ yaml: out }).config).toEqual(load({ yaml }).config);
});

test("every value that --print-config prints has an origin", async () => {
  const files = { "/srv/app/streams.yaml": "sources: [{ name: a, kind: documents, topic: t, mapping: { id: 1 } }]" };
  const { out } = await cli(["--print-config"], { files });
  const bare = out
    .split("\n")
    .filter((line) => /^\s*(- )?\w+: \S/.test(line) && !/ # (default|file|env|file .+)$/.test(line));
  expect(bare).toEqual([]);
});

test("hash-token prints a line that the tokens file takes, and never the token", async () => {
  const { code, out, err } = await cli(["hash-token", "--name", "ops", "--role", "admin"], { input: `${TOKEN}\n` });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  expect(parseTokens(out)).toEqual([{ name: "ops", role: "admin", sha256 }]);
  expect(out).not.toContain(TOKEN);
});

test.each([
  ["a short token", "admin", "ops", "short"],
  ["an empty token", "admin", "ops", ""],
  ["two lines", "admin", "ops", `${TOKEN}\n${TOKEN}`],
  ["a role that there is not", "root", "ops", TOKEN],
  ["a name that cannot be", "admin", "Ops!", TOKEN],
])("hash-token refuses %s", async (_what, role, name, input) => {
  const { code, out, err } = await cli(["hash-token", "--name", name, "--role", role], { input });
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).not.toContain(TOKEN);
});

test("--help names every command and exit code, --version the version", async () => {
  const { out } = await cli(["--help"]);
  for (const word of [
    "serve",
    "check",
    "--print-config",
    "apply",
    "hash-token",
    "0 done",
    "1 a fault",
    "2 a command line",
  ]) {
    expect(out).toContain(word);
  }
  expect(await cli(["--version"])).toMatchObject({ code: 0, out: "1.2.3\n" });
});

test("check fails for what only the build knows of a source", async () => {
  const files = { "/srv/app/streams.yaml": "sources: []\n" };
  expect(await cli(["check"], { files })).toMatchObject({ code: 0 });
  const failed = await cli(["check"], { files, faults: ["source beacons: mapping names no field 999"] });
  expect(failed).toMatchObject({ code: 1, out: "" });
  expect(failed.err).toContain("names no field 999");
});
