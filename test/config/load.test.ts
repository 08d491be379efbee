import { expect, test } from "vitest";
import { LIMITS, loadConfig } from "../../src/config/index.ts";
import { LIMIT_NAMES } from "../../src/config/limits.ts";
import { faultsOf, load, refusalOf } from "./support.ts";

const SOURCE = "{ name: articles, kind: documents, topic: articles }";

test("without a file the defaults are in force: loopback, no sources", () => {
  const { config, provenance, file, warnings } = load();
  expect(config).toMatchObject({
    http: { host: "127.0.0.1", port: 8080 },
    broker: { brokers: ["localhost:9092"], clientId: "ysearch-streams" },
    kv: { engine: "embedded", directories: ["/srv/app/data/a", "/srv/app/data/b", "/srv/app/data/c"], writeAcks: 2 },
    log: { level: "info", pretty: false },
    sources: [],
  });
  expect(new Set(provenance.values())).toEqual(new Set(["default"]));
  expect(file).toBeUndefined();
  expect(warnings).toEqual([]);
});

test("every limit has its default from the table, durations under the name with Ms", () => {
  const limits = new Map(Object.entries(load().config.limits));
  expect(limits.size).toBe(LIMIT_NAMES.length);
  for (const name of LIMIT_NAMES) {
    expect(limits.get(LIMITS[name].unit === "ms" ? `${name}Ms` : name)).toBe(LIMITS[name].default);
  }
});

test("the bounds of every limit are allowed values, and the next ones are not", () => {
  for (const name of LIMIT_NAMES) {
    const { unit, min, max } = LIMITS[name];
    const spell = (value: number) => (unit === "ms" ? `${value}ms` : `${value}`);
    const ownFaults = (value: number) =>
      allFaults(`limits: { ${name}: ${spell(value)} }`).filter((fault) => fault.found.startsWith("the value is"));
    expect([name, ownFaults(min), ownFaults(max)]).toEqual([name, [], []]);
    expect([name, ownFaults(min - 1).length, ownFaults(max + 1).length]).toEqual([name, 1, 1]);
  }
});

function allFaults(yaml: string) {
  try {
    load({ yaml });
    return [];
  } catch {
    return faultsOf({ yaml });
  }
}

test("a source gets its defaults from its name, topic and kind", () => {
  const { config, provenance } = load({ yaml: `sources: [${SOURCE}]` });
  expect(config.sources).toEqual([
    {
      name: "articles",
      kind: "documents",
      topic: "articles",
      group: "ysearch-streams.articles",
      namespace: "articles",
      format: "protobuf",
      framing: "none",
      descriptor: { subject: "ysearch.article" },
      body: "json",
      startFrom: "earliest",
      worstLagMs: 86_400_000,
      onPoison: "dead-letter",
      deadLetterTopic: "articles.dlq",
      createDeadLetterTopic: true,
    },
  ]);
  expect(provenance.get("sources[0].topic")).toBe("file");
  expect(provenance.get("sources[0].group")).toBe("default");
  expect(provenance.get("sources[0].worstLag")).toBe("default");
});

test.each([
  ["documents", "ysearch.article"],
  ["traffic", "ysearch.beacon"],
  ["campaigns", "ysearch.campaign"],
  ["dials", "ysearch.dial"],
  ["ad_actions", "ysearch.ad_action"],
])("the built-in descriptor of %s is %s", (kind, subject) => {
  const { config } = load({ yaml: `sources: [{ name: s, kind: ${kind}, topic: t }]` });
  expect(config.sources[0]?.descriptor).toEqual({ subject });
});

test("everything a source can say", () => {
  const yaml = `
sources:
  - name: bids
    kind: documents
    topic: Bid_Data.v1
    group: team@bids/1
    namespace: bid-data
    format: protobuf
    framing: confluent
    descriptor: { subject: acme.bid, version: 3, message: acme.v1.Bid }
    mapping: { id: 1, site: "3.1", placement: [3, 2] }
    body: original
    startFrom: 2026-01-31T00:00:00+01:00
    worstLag: 48h
    onPoison: stop
    deadLetterTopic: bids-dead
    createDeadLetterTopic: false
`;
  expect(load({ yaml }).config.sources[0]).toEqual({
    name: "bids",
    kind: "documents",
    topic: "Bid_Data.v1",
    group: "team@bids/1",
    namespace: "bid-data",
    format: "protobuf",
    framing: "confluent",
    descriptor: { subject: "acme.bid", version: 3, message: "acme.v1.Bid" },
    mapping: { id: [1], site: [3, 1], placement: [3, 2] },
    body: "original",
    startFrom: { timestampMs: Date.UTC(2026, 0, 30, 23) },
    worstLagMs: 172_800_000,
    onPoison: "stop",
    deadLetterTopic: "bids-dead",
    createDeadLetterTopic: false,
  });
});

test("formats without a descriptor have none", () => {
  const yaml = `sources: [{ name: s, kind: documents, topic: t, format: json }]`;
  expect(load({ yaml }).config.sources[0]).not.toHaveProperty("descriptor");
});

test("anchors and aliases serve to repeat a block", () => {
  const yaml = `
sources:
  - { name: a, kind: documents, topic: a, descriptor: &d { subject: acme.bid } }
  - { name: b, kind: documents, topic: b, descriptor: *d }
`;
  expect(load({ yaml }).config.sources.map((source) => source.descriptor)).toEqual([
    { subject: "acme.bid" },
    { subject: "acme.bid" },
  ]);
});

test("STREAMS_CONFIG names another file, relative to the working directory", () => {
  const given = {
    env: { STREAMS_CONFIG: "etc/other.yaml" },
    files: { "/srv/app/etc/other.yaml": "http: { port: 0 }" },
  };
  expect(load(given)).toMatchObject({ file: "/srv/app/etc/other.yaml", config: { http: { port: 0 } } });
});

test("a named file must exist, and the name must not be empty", () => {
  expect(refusalOf({ env: { STREAMS_CONFIG: "gone.yaml" } }).message).toContain(
    "gone.yaml: it cannot be read (ENOENT)",
  );
  expect(refusalOf({ env: { STREAMS_CONFIG: "" } }).message).toContain("STREAMS_CONFIG is empty");
});

test("a default file that is there but cannot be read is refused", () => {
  const readFile = () => {
    throw Object.assign(new Error("permission denied"), { code: "EACCES" });
  };
  expect(() => loadConfig({ env: {}, cwd: "/srv/app", readFile })).toThrow("EACCES");
});

test("the configuration is frozen at every depth", () => {
  const { config } = load({ yaml: `sources: [{ name: s, kind: documents, topic: t, mapping: { id: [1] } }]` });
  const open: string[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value !== "object" || value === null) return;
    if (!Object.isFrozen(value)) open.push(path);
    for (const [key, part] of Object.entries(value)) visit(part, `${path}.${key}`);
  };
  visit(config, "config");
  expect(open).toEqual([]);
});

test("two readings share nothing", () => {
  expect(load().config.kv.directories).not.toBe(load().config.kv.directories);
  expect(load().config.sources).not.toBe(load().config.sources);
});
