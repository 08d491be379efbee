import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseDocument } from "yaml";
import { expect, test } from "vitest";
import { load } from "../config/support.ts";
import { ROOT } from "../tidy/files.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** A tag that names one version: digits, with at least two dots. */
const PINNED = /^[a-z0-9./-]+:v?\d+\.\d+\.\d+[a-z0-9.-]*$/;

/** Instructions of a Dockerfile, continuation lines joined, without comments. */
function instructions(text: string): readonly (readonly [string, string])[] {
  return text
    .replaceAll(/^#.*$/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [word = "", ...rest] = line.trim().split(/\s+/);
      return [word, rest.join(" ")] as const;
    });
}

interface Service {
  readonly image?: string;
  readonly build?: object;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly secrets?: readonly string[];
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<"redpanda" | "streams", Service>>;
  readonly volumes: object;
  readonly secrets: object;
}

const compose = parse(read("deploy/compose.yaml")) as Compose;
const docker = instructions(read("Dockerfile"));
const last = docker.findLastIndex(([word]) => word === "FROM");
const runtime = docker.slice(last);
const value = (word: string) => runtime.findLast(([name]) => name === word)?.[1] ?? "";

test("the image is built in stages from one pinned base", () => {
  const bases = docker.filter(([word]) => word === "FROM").map(([, rest]) => rest.split(" ")[0] ?? "");
  expect(new Set(bases).size).toBe(1);
  expect(bases.length).toBeGreaterThan(1);
  for (const base of bases) expect(base).toMatch(PINNED);
  expect(bases[0]).toMatch(/^node:24\..*-slim$/);
});

test("what runs has production dependencies only, and no source", () => {
  const copied = runtime.filter(([word]) => word === "COPY").map(([, rest]) => rest);
  expect(copied).toEqual([
    "--from=dependencies /app/node_modules node_modules",
    "--from=build /app/dist dist",
    "package.json ./",
  ]);
  expect(docker).toContainEqual(["RUN", "npm ci --omit=dev"]);
});

test("it runs as a user that is not root, ends at SIGTERM and starts without a shell", () => {
  expect(value("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(value("STOPSIGNAL")).toBe("SIGTERM");
  expect(JSON.parse(value("ENTRYPOINT"))).toEqual(["node", "--enable-source-maps", "dist/src/main.js"]);
  expect(JSON.parse(value("CMD"))).toEqual(["serve"]);
  expect(value("HEALTHCHECK")).toMatch(/CMD \["node", "dist\/src\/cli\/healthcheck\.js"\]$/);
});

test("what the image starts is what the build makes", () => {
  const manifest = JSON.parse(read("package.json")) as { bin: Record<string, string> };
  expect(Object.values(manifest.bin)).toEqual(["dist/src/main.js"]);
  expect(read("src/main.ts")).toContain("runCli(");
  expect(read("src/cli/healthcheck.ts")).toContain("/livez");
});

test("only what the image is built from is sent to the engine", () => {
  const [first, ...kept] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(first).toBe("*");
  const copied = docker
    .filter(([word, rest]) => word === "COPY" && !rest.startsWith("--from="))
    .flatMap(([, rest]) => rest.split(" ").slice(0, -1));
  expect(new Set(kept)).toEqual(new Set(copied.map((path) => `!${path}`)));
});

test("the compose file is well-formed and every image in it is pinned", () => {
  const document = parseDocument(read("deploy/compose.yaml"), { uniqueKeys: true });
  expect([...document.errors, ...document.warnings]).toEqual([]);
  expect(compose.services.redpanda.image).toMatch(PINNED);
});

test("the service may do as little as possible", () => {
  const { streams } = compose.services;
  expect(streams).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
  expect(streams.privileged).toBeUndefined();
});

test("every service has a health check and publishes on loopback only", () => {
  for (const service of Object.values(compose.services)) {
    expect(service.healthcheck?.test[0]).toMatch(/^CMD/);
    expect(service.security_opt).toContain("no-new-privileges:true");
    for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  }
});

test("every volume and secret that is used is declared", () => {
  const named = Object.values(compose.services).flatMap(({ volumes }) =>
    volumes.map((volume) => volume.split(":")[0] ?? ""),
  );
  expect(new Set(named.filter((name) => !name.startsWith(".")))).toEqual(new Set(Object.keys(compose.volumes)));
  expect(compose.services.streams.secrets).toEqual(Object.keys(compose.secrets));
});

test("the configuration that is mounted is valid and fits the container", () => {
  const { config, warnings } = load({ yaml: read("deploy/streams.yaml"), files: { "/run/secrets/tokens": "{}" } });
  expect(config.http.tokensFile).toBe("/run/secrets/tokens");
  expect(compose.services.streams.ports).toEqual([`127.0.0.1:8080:${config.http.port}`]);
  const mounted = compose.services.streams.volumes.map((volume) => volume.split(":")[1]);
  for (const directory of config.kv.directories) {
    expect(mounted).toContain(directory);
    expect(JSON.parse(value("VOLUME"))).toContain(directory);
  }
  expect(value("ENV")).toContain(`STREAMS_CONFIG=${compose.services.streams.volumes[0]?.split(":")[1]}`);
  const grace = Number(/^(\d+)s$/.exec(compose.services.streams.stop_grace_period ?? "")?.[1]);
  expect(grace * 1000).toBeGreaterThan(config.limits.drainTimeoutMs + 10_000);
  expect(warnings).toHaveLength(1);
});

test("the example is valid, and its commented parts are too", () => {
  const example = read("streams.example.yaml");
  expect(load({ yaml: example }).warnings).toEqual([]);
  const whole = example.replaceAll(/^(\s*)# (?=\s*(?:- )?[a-zA-Z]+: )/gm, "$1");
  expect(whole).not.toBe(example);
  const pem = "-----BEGIN X-----";
  const names = ["tokens", "server.pem", "server.key", "broker-ca.pem"];
  const files = Object.fromEntries(names.map((name) => [`/srv/app/secrets/${name}`, pem]));
  const { config } = load({ yaml: whole, files, env: { KAFKA_PASSWORD: "x" } });
  const sources = ["articles", "beacons", "ad-actions", "campaigns", "dials", "bids", "reviews"];
  expect(config.sources.map(({ name }) => name)).toEqual(sources);
  expect(config).toMatchObject({ http: { tls: {} }, broker: { ssl: {}, sasl: { password: "x" } } });
});
