import { expect, test } from "vitest";
import { faultsOf, load, refusalOf } from "./support.ts";

const source = (rest: string) => `sources: [{ name: s, kind: documents, topic: t, ${rest} }]`;

test.each<[string, string, RegExp]>([
  ["htp: {}", "htp", /unknown key; did you mean http\?/],
  ["limits: { drainTimeot: 3s }", "limits.drainTimeot", /did you mean drainTimeout\?/],
  ["limits: { drain_timeout: 3s }", "limits.drain_timeout", /did you mean drainTimeout\?/],
  ["limits: { drainTimeoutMs: 3000 }", "limits.drainTimeoutMs", /did you mean drainTimeout\?/],
  ["http: { listen: 1 }", "http.listen", /unknown key; known here: host, port, tokensFile, tls/],
  [source("topik: t"), "sources[0].topik", /did you mean topic\?/],
  [source("descriptor: { subject: a, verison: 1 }"), "sources[0].descriptor.verison", /did you mean version\?/],
  ["__proto__: { port: 1 }", "__proto__", /unknown key/],
  ["<<: { http: {} }", "<<", /unknown key/],
  ["1: 2", "1", /unknown key/],
  ["http: { port: '8080' }", "http.port", /the text "8080"; write a whole number, 0 to 65535/],
  ["http: { port: 65536 }", "http.port", /the value is 65536/],
  ["http: { port: 80.5 }", "http.port", /the value is 80.5/],
  ["http: { port: }", "http.port", /no value/],
  ["http:", "http", /no value/],
  ["http: []", "http", /not a block of keys/],
  ["log: { pretty: yes }", "log.pretty", /the text "yes"; write true or false/],
  ["log: { level: warning }", "log.level", /write one of debug, info, warn, error, silent/],
  ["limits: { inFlightBytes: 64MB }", "limits.inFlightBytes", /a size such as 64MiB, 1MiB to 4GiB/],
  ["limits: { drainTimeout: 20 }", "limits.drainTimeout", /a duration such as 500ms, 30s, 48h or 7d, 1s to 10m/],
  ["limits: { drainTimeout: 11m }", "limits.drainTimeout", /1s to 10m/],
  ["sources: {}", "sources", /not a list/],
  ["sources: [articles]", "sources[0]", /not a block of keys/],
  ["sources: [{ name: a, kind: documents }]", "sources[0].topic", /the key is missing/],
  ["sources: [{ name: Art, kind: documents, topic: t }]", "sources[0].name", /lower-case letters/],
  ["sources: [{ name: a, kind: document, topic: t }]", "sources[0].kind", /did you mean documents\?/],
  ["sources: [{ name: a, kind: documents, topic: .. }]", "sources[0].topic", /not '.' or '..'/],
  [`sources: [{ name: a, kind: documents, topic: ${"t".repeat(250)} }]`, "sources[0].topic", /at most 249/],
  [
    `sources: [{ name: a, kind: documents, topic: ${"t".repeat(249)} }]`,
    "sources[0].deadLetterTopic",
    /253 characters/,
  ],
  [source("deadLetterTopic: t"), "sources[0].deadLetterTopic", /the source's own topic/],
  [
    "sources: [{ name: a, kind: documents, topic: t, deadLetterTopic: u }, { name: b, kind: documents, topic: u, deadLetterTopic: t }]",
    "sources[1].deadLetterTopic",
    /come back to the topic/,
  ],
  [source("startFrom: 2026-01-31"), "sources[0].startFrom", /a moment such as 2026-01-31T00:00:00Z/],
  [source("startFrom: 0"), "sources[0].startFrom", /earliest, latest/],
  [source("worstLag: 0s"), "sources[0].worstLag", /1s to/],
  [source("mapping: { id: 3.1 }"), "sources[0].mapping", /site: "3.1"/],
  [source("mapping: { id: 0 }"), "sources[0].mapping", /field number/],
  [source("mapping: { id: [] }"), "sources[0].mapping", /field number/],
  [source("mapping: { id: 536870912 }"), "sources[0].mapping", /field number/],
  [source("mapping: { __proto__: 1 }"), "sources[0].mapping", /input names/],
  [source("format: json, descriptor: { subject: a }"), "sources[0].descriptor", /format json/],
  [source("descriptor: { subject: a, version: 0 }"), "sources[0].descriptor.version", /1 to/],
  [source("descriptor: { subject: a, message: .a.B }"), "sources[0].descriptor.message", /without a leading dot/],
  ["broker: { brokers: ['[::1]:9092'] }", "broker.brokers[0]", /host:port/],
  ["broker: { brokers: ['::1:9092'] }", "broker.brokers[0]", /host:port/],
  ["broker: { brokers: [localhost] }", "broker.brokers[0]", /host:port/],
  ["broker: { brokers: ['localhost:99999'] }", "broker.brokers[0]", /"localhost:99999"; write .*port 1 to 65535/],
  ["broker: { brokers: ['localhost:0'] }", "broker.brokers[0]", /port 1 to 65535/],
  ["broker: { brokers: ['localhost:65536'] }", "broker.brokers[0]", /port 1 to 65535/],
  ["broker: { brokers: [] }", "broker.brokers", /0 entries/],
  ["broker: { brokers: 'localhost:9092' }", "broker.brokers", /not a list/],
  ["kv: { directories: [a, b] }", "kv.directories", /2 entries; write 3/],
  ["kv: { directories: [a, b, a/] }", "kv.directories[2]", /equal to kv.directories\[0\]/],
  ["kv: { directories: [a, b, b/c] }", "kv.directories[2]", /kv.directories\[1\]/],
  ["kv: { directories: [a, b, a/..c] }", "kv.directories[2]", /kv.directories\[0\]/],
  ["kv: { directories: [a/b, a, c] }", "kv.directories[0]", /kv.directories\[1\]/],
  ["kv: { writeAcks: 1 }", "kv.writeAcks", /2 to 3/],
  ["kv: { engine: lmdb }", "kv.engine", /write one of embedded, cassandra/],
  ["kv: { engine: embedded, keyspace: a }", "kv.keyspace", /unknown key/],
  ["kv: { engine: cassandra, contactPoints: [a], localDataCenter: dc }", "kv.engine", /not built yet/],
  ["http: { host: 0.0.0.0 }", "http.host", /not loopback/],
  ["http: { host: my.host }", "http.host", /not loopback/],
  ["http: { host: 127.example.org }", "http.host", /not loopback/],
  ["http: { host: '::' }", "http.host", /not loopback/],
  ["http: { tokensFile: gone }", "http.tokensFile", /\/srv\/app\/gone cannot be read \(ENOENT\)/],
  ["http: { tls: { certFile: server.pem } }", "http.tls.keyFile", /missing/],
  ["http: { tls: { certFile: streams.yaml, keyFile: server.pem } }", "http.tls.certFile", /no PEM block/],
  ["broker: { ssl: { certFile: server.pem } }", "broker.ssl", /only one of certFile and keyFile/],
])("%s is refused at %s", (yaml, path, text) => {
  const faults = faultsOf({ yaml });
  const found = faults.filter((fault) => fault.path === path).map((fault) => `${fault.found}; ${fault.right}`);
  expect(found).toEqual([expect.stringMatching(text)]);
});

test.each([
  ["name", "a name belongs to one source"],
  ["group", "two sources in one group"],
  ["namespace", "a namespace has one source"],
])("two sources of one %s are refused", (key, why) => {
  const own = (name: string) => ({ name, kind: "documents", topic: "t", group: `g.${name}`, namespace: name });
  const sources = [own("a"), { ...own("b"), [key]: own("a")[key as "name" | "group" | "namespace"] }];
  const faults = faultsOf({ yaml: JSON.stringify({ sources }) });
  expect(faults).toMatchObject([{ path: `sources[1].${key}`, right: expect.stringContaining(why) as unknown }]);
});

test("what is wrong elsewhere is found although a block lacks a key that it needs", () => {
  const yaml = `
http: { host: 0.0.0.0 }
broker: { brokers: ['a:99999', b], sasl: { mechanism: plain } }
limits: { fetchWait: 2s }
sources:
  - { kind: documents, topic: t }
  - { name: b, kind: documents, topic: t, deadLetterTopic: t }
`;
  expect(faultsOf({ yaml }).map(({ path }) => path)).toEqual([
    "http.host",
    "broker.brokers[0]",
    "broker.brokers[1]",
    "limits.fetchWait",
    "sources[1].deadLetterTopic",
    "broker.sasl.username",
    "sources[0].name",
  ]);
});

test("all faults are reported at once, in the order of the file, each with its line", () => {
  const yaml = `
http: { port: x }
limits:
  drainTimeot: 3s
  heartbeatInterval: 5s
sources:
  - { name: A, kind: documents, topic: t }
  - { name: b, kind: documents, topic: t, group: g }
  - name: c
    kind: documents
    topic: t
    group: g
log:
  level: loud
`;
  expect(faultsOf({ yaml }).map(({ path, line }) => [path, line])).toEqual([
    ["http.port", 2],
    ["limits.drainTimeot", 4],
    ["limits.heartbeatInterval", 5],
    ["sources[0].name", 7],
    ["sources[2].group", 12],
    ["log.level", 14],
  ]);
  expect(refusalOf({ yaml }).message).toContain(
    "streams.yaml:4: limits.drainTimeot: unknown key; did you mean drainTimeout?",
  );
});

test.each<[string, string | Uint8Array, RegExp, number?]>([
  ["a duplicate key", "http: {}\nlog: {}\nhttp: {}", /same key occurs twice/, 3],
  ["a duplicate key in quotes", 'http: {}\n"http": {}', /same key occurs twice/, 2],
  ["two documents", "http: {}\n---\nlog: {}", /more than one document/, 2],
  ["a tag", "log:\n  level: !secret info", /tag/, 2],
  ["an unclosed bracket", "sources: [", /not well-formed YAML/],
  ["a tab", "http:\n\tport: 1", /tab/],
  ["an empty file", "", /the file is empty/],
  ["comments alone", "# nothing", /the file is empty/],
  ["a list", "- a", /not a block of keys/],
  ["text", "port 8080", /not a block of keys/],
  ["bytes that are not UTF-8", Uint8Array.of(0x61, 0x3a, 0xff), /not UTF-8/],
  ["a file past 1 MiB", `# ${"x".repeat(1024 * 1024)}`, /at most 1048576/],
  ["an alias without an anchor", "http: *nothing", /alias/, 1],
  ["nesting without end", `a: ${"[".repeat(20_000)}`, /nested too deeply|not well-formed/],
])("%s is refused", (_what, yaml, text, line) => {
  const [fault, ...others] = faultsOf({ yaml });
  expect(`${fault?.found}; ${fault?.right}`).toMatch(text);
  if (line !== undefined) expect(fault?.line).toBe(line);
  expect(others.length).toBeLessThan(50);
});

test("an alias within itself and a bomb of aliases end", () => {
  expect(faultsOf({ yaml: "sources: &a [*a]" }).length).toBeGreaterThan(0);
  const bomb = [
    "a0: &a0 [1,1,1,1,1,1,1,1,1]",
    ...Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`),
  ];
  const yaml = `sources: [{ name: s, kind: documents, topic: t, mapping: { id: &x [*y] } }]\n${bomb.join("\n")}`;
  expect(faultsOf({ yaml }).length).toBeGreaterThan(0);
  const inMapping = `sources:\n - name: s\n   kind: documents\n   topic: t\n   mapping:\n${bomb.map((line) => `     ${line}`).join("\n")}`;
  expect(faultsOf({ yaml: inMapping })).toMatchObject([{ path: "sources[0].mapping" }]);
});

test("what is allowed but probably not meant is a warning", () => {
  const yaml =
    "http: { host: 0.0.0.0, tokensFile: server.pem }\nbroker: { sasl: { mechanism: plain, username: u, password: '${P}' } }";
  expect(load({ yaml, env: { P: "x" } }).warnings).toHaveLength(2);
});
